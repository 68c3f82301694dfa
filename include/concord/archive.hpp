#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "concord/api.hpp"

namespace concord CONCORD_API {

class Archive;

namespace archive_detail {
template <class T>
concept KnowsItsMemory = requires(T& item, Archive& archive) {
  item.io(archive);
};
template <class T>
concept TellsItsVersion = requires(const T& item) {
  { item.memory_version() } -> std::same_as<int>;
};
template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// 'd' and 'f' floating point, 'i' and 'u' integers, 'c' bytes of any meaning.
template <class T>
constexpr char type_of() {
  if constexpr (std::is_same_v<T, double> || requires { typename T::AllDoubles; }) return 'd';
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>) {
    return std::is_signed_v<T> ? 'i' : 'u';
  }
  return std::is_enum_v<T> && !std::is_same_v<T, std::byte> ? 'u' : 'c';
}
}  // namespace archive_detail

/// Arrays of a rank that have entries for each of its subsystems, in the subsystems' order:
/// `connected` those of inputs that a connection feeds and that move, `held` of those it holds.
enum class Per { subsystem, state, input, connected, held, output };

/// Of which of a rank's subsystems the entries of its arrays are: `ends[per][k]` is where those of
/// subsystem k end.
struct ArchiveLayout {
  std::array<std::vector<std::size_t>, 6> ends;
};

/// Passes members, which in checkpoints have the names that they have here.
#define CONCORD_MEMBERS(archive, ...) (archive).named(#__VA_ARGS__, __VA_ARGS__)
/// The same of arrays with entries for each subsystem: Archive::per.
#define CONCORD_MEMBERS_PER(archive, kind, ...) (archive).named_per(#__VA_ARGS__, kind, __VA_ARGS__)

/// What an archive holds, in the order in which it was written: so many values of a type under a
/// name ("coupling/defects/last").
struct ArchiveSchema {
  struct Entry {
    std::uint32_t name = 0;   ///< position in `names`
    std::uint32_t bytes = 0;  ///< of one value
    std::uint64_t count = 0;
    char type = 'c';  ///< archive_detail::type_of; 'n': the number of values that follow is `count`
  };
  std::vector<std::string> names;
  std::vector<std::vector<Entry>> lanes;  ///< what is common, then per subsystem what others
                                          ///< remember of it, then what each remembers itself
};

/// A class whose memory an archive holds, and the version of what its `io` passes.
struct ArchiveClass {
  std::string name;
  int version = 1;

  void io(Archive& archive);
};

/// What objects remember, as bytes in the order in which they name it. One function per class,
/// `io(Archive&)`, both writes and reads: `CONCORD_MEMBERS(archive, a, b, c)`, or without names
/// `archive(a, b, c)`, for numbers, plain structs without pointers, texts, vectors and optionals of
/// these, and whatever has an `io` itself.
///
/// With a layout the memory of a rank comes apart into what each of its subsystems remembers
/// (`within_itself`), what others remember of it (`within`, `per`), and what is the same on every
/// rank: any number of ranks can read it.
///
/// Whoever changes what a class passes, or what it means, raises its `memory_version()`, which
/// without one is 1: archives that are kept say of which classes and versions they are.
class Archive {
 public:
  struct Memory {
    std::vector<std::byte> common;
    std::vector<std::vector<std::byte>> own;           ///< of each of the rank's subsystems
    std::vector<std::vector<std::byte>> themselves{};  ///< what each of these remembers itself
    void io(Archive& archive) { archive(common, own, themselves); }
  };
  using Layout = std::shared_ptr<const ArchiveLayout>;

  /// For writing.
  Archive() = default;
  explicit Archive(Layout layout)
      : layout_(std::move(layout)),
        memory_{{}, Lanes(subsystems()), Lanes(subsystems())},
        passed_(1 + 2 * subsystems()) {}
  /// For reading what was written.
  explicit Archive(std::vector<std::byte> bytes)
      : memory_{std::move(bytes), {}, {}}, reading_(true) {}
  Archive(Layout layout, Memory memory)
      : layout_(std::move(layout)),
        memory_(std::move(memory)),
        passed_(1 + 2 * subsystems()),
        reading_(true) {
    const std::size_t n = subsystems();
    if (memory_.own.size() != n || memory_.themselves.size() != n) disagree();
  }

  /// Before anything is written: takes note of the class of every object.
  void note_classes();
  /// Those of which note was taken, by name.
  std::vector<ArchiveClass> classes() const;
  /// Before anything is read: each object's class must be among those `written`, in the same
  /// version. Where one is not, reading throws InputError with its name.
  void require_classes(std::vector<ArchiveClass> written);
  /// Of what has been written since `note_classes`; of nothing that is written later.
  ArchiveSchema take_schema();
  /// For an object whose `io` is not called by this archive itself.
  template <class T>
  void enter(const T& item) {
    if (classes_) [[unlikely]]
      enter(typeid(item), version_of(item));
  }

  bool reading() const { return reading_; }
  /// What was written is read, from its beginning; and written on, at its end.
  void begin_reading() {
    end_lanes();
    reading_ = true;
    passed_.assign(passed_.size(), 0);
  }
  void go_on_writing() {
    reading_ = false;
    for (std::size_t l = 0; l < passed_.size(); ++l) passed_[l] = lane(l).size();
  }

  /// Whether what `work` reads is something else than what is there: what was made of that is to be
  /// made anew.
  template <class Work>
  bool changes(const Work& work) {
    const bool before = std::exchange(changed_, false);
    work();
    const bool result = changed_;
    changed_ = before || result;
    return result;
  }

  const std::vector<std::byte>& bytes() { return memory().common; }
  const Memory& memory() {
    end_lanes();
    return memory_;
  }
  Memory take_memory() {
    end_lanes();
    return std::move(memory_);
  }
  /// Whether everything has been read.
  bool at_end() {
    bool all = true;
    for (std::size_t l = 0; l < passed_.size(); ++l) all = all && passed_[l] == lane(l).size();
    return all;
  }

  template <class... Items>
  void operator()(Items&... items) {
    (pass(items), ...);
  }

  /// `names`: of the items, with commas between (CONCORD_MEMBERS).
  template <class... Items>
  void named(const char* names, Items&... items) {
    (under(names, [&] { pass(items); }), ...);
  }
  template <class... Items>
  void named_per(const char* names, Per kind, std::vector<Items>&... items) {
    (under(names, [&] { pass_apart(kind, items); }), ...);
  }
  /// What `work` passes has this name, a literal.
  template <class Work>
  void as(const char* name, const Work& work) {
    under(name, work);
  }
  /// The same with the first of these names; the others are left in it.
  template <class Work>
  void under(const char*& names, const Work& work) {
    if (!schema_) [[likely]] {
      work();
      return;
    }
    const std::uint32_t outside = begin_name(names);
    work();
    end_name(outside);
  }

  /// What `work` passes is about subsystem k of this rank.
  template <class Work>
  void within(std::size_t k, Work&& work) {
    in_lane(1 + k, work);
  }
  /// What `work` passes is what subsystem k of this rank remembers itself.
  template <class Work>
  void within_itself(std::size_t k, Work&& work) {
    in_lane(1 + subsystems() + k, work);
  }

  /// Arrays with entries for each subsystem; empty, or whole.
  template <class... Items>
  void per(Per kind, std::vector<Items>&... items) {
    (pass_apart(kind, items), ...);
  }

  /// The same where the size is known on both sides.
  template <archive_detail::PlainValue T>
  void per(Per kind, std::span<T> items) {
    if (!comes_apart()) {
      values(items);
      return;
    }
    for_parts(kind,
              [&](std::size_t first, std::size_t count) { values(items.subspan(first, count)); });
  }

  /// Values whose number is known on both sides.
  template <archive_detail::PlainValue T>
  void values(std::span<T> items) {
    if (!items.empty()) {
      transfer(items.data(), items.size());
    }
  }

 private:
  using Lanes = std::vector<std::vector<std::byte>>;
  struct Classes;
  struct Schema;

  template <class T>
  static int version_of(const T& item) {
    if constexpr (archive_detail::TellsItsVersion<T>) {
      return item.memory_version();
    } else {
      return 1;
    }
  }
  void enter(const std::type_info& type, int version);
  std::uint32_t begin_name(const char*& names);
  void end_name(std::uint32_t outside);
  void note(char type, std::size_t bytes, std::size_t count);

  [[noreturn]] static void disagree() {
    throw std::logic_error("an archive is read in another way than it was written");
  }

  std::size_t subsystems() const {
    return layout_ ? layout_->ends[static_cast<std::size_t>(Per::subsystem)].size() : 0;
  }
  bool comes_apart() const { return layout_ && lane_ == 0; }

  template <class Work>
  void in_lane(std::size_t lane, const Work& work) {
    const std::size_t outside = lane_;
    if (layout_) lane_ = lane;
    work();
    lane_ = outside;
  }
  std::vector<std::byte>& lane(std::size_t lane) {
    if (lane == 0) return memory_.common;
    const std::size_t k = lane - 1, n = subsystems();
    return k < n ? memory_.own[k] : memory_.themselves[k - n];
  }
  /// While a lane is written it may be longer than what there is.
  void end_lanes() {
    for (std::size_t l = 0; l < passed_.size() && !reading_; ++l) lane(l).resize(passed_[l]);
  }

  template <class T>
  void transfer(T* data, std::size_t count) {
    if (schema_ && !reading_) [[unlikely]]
      note(archive_detail::type_of<T>(), sizeof(T), count);
    pass_bytes(data, count * sizeof(T));
  }

  void pass_bytes(void* data, std::size_t size) {
    if (size > lane(lane_).size() - passed_[lane_]) [[unlikely]]
      make_room(size);
    std::byte* const place = lane(lane_).data() + passed_[lane_];
    passed_[lane_] += size;
    if (!reading_) {
      std::memcpy(place, data, size);
      return;
    }
    changed_ = changed_ || std::memcmp(data, place, size) != 0;
    std::memcpy(data, place, size);
  }
  void make_room(std::size_t size);

  /// Calls `work` with the first entry and the number of entries of each subsystem, within it.
  template <class Work>
  void for_parts(Per kind, const Work& work) {
    const auto& ends = layout_->ends[static_cast<std::size_t>(kind)];
    std::size_t first = 0;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      within(k, [&] { work(first, ends[k] - first); });
      first = ends[k];
    }
  }

  template <class T>
  void pass_apart(Per kind, std::vector<T>& items) {
    if (!comes_apart()) {
      pass(items);
      return;
    }
    const auto& ends = layout_->ends[static_cast<std::size_t>(kind)];
    const std::size_t whole = ends.empty() ? 0 : ends.back();
    if (!reading_ && !items.empty() && items.size() != whole) disagree();
    bool any = false;
    for_parts(kind, [&](std::size_t first, std::size_t size) {
      const bool there = count(items.empty() ? 0 : 1) != 0;
      any = any || there;
      if (!there) return;
      if (reading_) items.resize(whole);
      pass_all(std::span(items).subspan(first, size));
    });
    if (reading_ && !any) items.clear();
  }

  std::size_t count(std::size_t own) {
    if (schema_ && !reading_) [[unlikely]]
      note('n', sizeof own, own);
    pass_bytes(&own, sizeof own);
    return own;
  }

  template <class T>
  void pass(T& item) {
    if constexpr (archive_detail::KnowsItsMemory<T>) {
      enter(item);
      item.io(*this);
    } else {
      static_assert(archive_detail::PlainValue<T>, "give the class an io(Archive&)");
      transfer(&item, 1);
    }
  }

  void pass(std::string& text) {
    text.resize(count(text.size()));
    transfer(text.data(), text.size());
  }

  template <class T>
  void pass(std::vector<T>& items) {
    items.resize(count(items.size()));
    pass_all(std::span(items));
  }

  template <class T>
  void pass_all(std::span<T> items) {
    if constexpr (archive_detail::PlainValue<T> && !archive_detail::KnowsItsMemory<T>) {
      values(items);
    } else {
      for (T& item : items) pass(item);
    }
  }

  void pass(std::vector<bool>& items) {
    items.resize(count(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      bool item = items[i];
      pass(item);
      items[i] = item;
    }
  }

  template <class T>
  void pass(std::optional<T>& item) {
    if (count(item ? 1 : 0) == 0) {
      item.reset();
      return;
    }
    if constexpr (std::is_default_constructible_v<T>) {
      item = item ? std::move(item) : std::optional<T>(std::in_place);
    }
    pass(item.value());
  }

  Layout layout_;
  std::shared_ptr<Schema> schema_;    ///< null: nobody asks for it
  std::shared_ptr<Classes> classes_;  ///< null: nobody asks for them
  Memory memory_;
  /// 0 what is common, then `own`, then `themselves`: how much has been read or written of each.
  std::vector<std::size_t> passed_{0};
  std::size_t lane_ = 0;
  bool reading_ = false;
  bool changed_ = false;  ///< by what was read since `changes`
};

inline void ArchiveClass::io(Archive& archive) { archive(name, version); }

}  // namespace CONCORD_API

#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
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
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;
}  // namespace archive_detail

/// Arrays of a rank that have entries for each of its subsystems, in the subsystems' order:
/// `connected` those of inputs that a connection feeds and that move, `held` of those it holds.
enum class Per { subsystem, state, input, connected, held, output };

/// Of which of a rank's subsystems the entries of its arrays are: `ends[per][k]` is where those of
/// subsystem k end.
struct ArchiveLayout {
  std::array<std::vector<std::size_t>, 6> ends;
};

/// What objects remember, as bytes in the order in which they name it. One function per class,
/// `io(Archive&)`, both writes and reads: `archive(a, b, c)` for numbers, plain structs without
/// pointers, texts, vectors and optionals of these, and whatever has an `io` itself.
///
/// With a layout the memory of a rank comes apart into what each of its subsystems remembers
/// (`within`, `per`) and what is the same on every rank: any number of ranks can read it.
class Archive {
 public:
  struct Memory {
    std::vector<std::byte> common;
    std::vector<std::vector<std::byte>> own;  ///< of each of the rank's subsystems
    void io(Archive& archive) { archive(common, own); }
  };
  using Layout = std::shared_ptr<const ArchiveLayout>;

  /// For writing.
  Archive() = default;
  explicit Archive(Layout layout)
      : layout_(std::move(layout)), memory_{{}, Lanes(subsystems())}, read_own_(subsystems()) {}
  /// For reading what was written.
  explicit Archive(std::vector<std::byte> bytes) : memory_{std::move(bytes), {}}, reading_(true) {}
  Archive(Layout layout, Memory memory)
      : layout_(std::move(layout)),
        memory_(std::move(memory)),
        read_own_(subsystems()),
        reading_(true) {
    if (memory_.own.size() != subsystems()) disagree();
  }

  bool reading() const { return reading_; }
  const std::vector<std::byte>& bytes() const { return memory_.common; }
  const Memory& memory() const { return memory_; }
  /// Whether everything has been read.
  bool at_end() const {
    bool all = read_ == memory_.common.size();
    for (std::size_t k = 0; k < read_own_.size(); ++k) {
      all = all && read_own_[k] == memory_.own[k].size();
    }
    return all;
  }

  template <class... Items>
  void operator()(Items&... items) {
    (pass(items), ...);
  }

  /// What `work` passes is subsystem k's of this rank.
  template <class Work>
  void within(std::size_t k, Work&& work) {
    const auto outside = lane_;
    if (layout_) lane_ = k;
    work();
    lane_ = outside;
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
      transfer(items.data(), items.size_bytes());
    }
  }

 private:
  using Lanes = std::vector<std::vector<std::byte>>;

  [[noreturn]] static void disagree() {
    throw std::logic_error("an archive is read in another way than it was written");
  }

  std::size_t subsystems() const {
    return layout_ ? layout_->ends[static_cast<std::size_t>(Per::subsystem)].size() : 0;
  }
  bool comes_apart() const { return layout_ && !lane_; }

  void transfer(void* data, std::size_t size) {
    std::vector<std::byte>& bytes = lane_ ? memory_.own[*lane_] : memory_.common;
    if (!reading_) {
      const auto* begin = static_cast<const std::byte*>(data);
      bytes.insert(bytes.end(), begin, begin + size);
      return;
    }
    std::size_t& position = lane_ ? read_own_[*lane_] : read_;
    if (size > bytes.size() - position) disagree();
    std::memcpy(data, bytes.data() + position, size);
    position += size;
  }

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
    for_parts(kind, [&](std::size_t first, std::size_t count) {
      bool there = !items.empty();
      pass(there);
      any = any || there;
      if (!there) return;
      if (reading_) items.resize(whole);
      pass_all(std::span(items).subspan(first, count));
    });
    if (reading_ && !any) items.clear();
  }

  std::size_t count(std::size_t own) {
    transfer(&own, sizeof own);
    return own;
  }

  template <class T>
  void pass(T& item) {
    if constexpr (archive_detail::KnowsItsMemory<T>) {
      item.io(*this);
    } else {
      static_assert(archive_detail::PlainValue<T>, "give the class an io(Archive&)");
      transfer(&item, sizeof item);
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
  Memory memory_;
  std::size_t read_ = 0;
  std::vector<std::size_t> read_own_;
  std::optional<std::size_t> lane_;
  bool reading_ = false;
};

}  // namespace CONCORD_API

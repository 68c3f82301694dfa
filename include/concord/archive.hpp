#pragma once

#include <cstddef>
#include <cstring>
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

/// What objects remember, as bytes in the order in which they name it. One function per class,
/// `io(Archive&)`, both writes and reads: `archive(a, b, c)` for numbers, plain structs without
/// pointers, texts, vectors and optionals of these, and whatever has an `io` itself.
class Archive {
 public:
  /// For writing.
  Archive() = default;
  /// For reading what was written.
  explicit Archive(std::vector<std::byte> bytes) : bytes_(std::move(bytes)), reading_(true) {}

  bool reading() const { return reading_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  /// Whether everything has been read.
  bool at_end() const { return position_ == bytes_.size(); }

  template <class... Items>
  void operator()(Items&... items) {
    (pass(items), ...);
  }

  /// Values whose number is known on both sides.
  template <archive_detail::PlainValue T>
  void values(std::span<T> items) {
    if (!items.empty()) {
      transfer(items.data(), items.size_bytes());
    }
  }

 private:
  void transfer(void* data, std::size_t size) {
    if (!reading_) {
      const auto* begin = static_cast<const std::byte*>(data);
      bytes_.insert(bytes_.end(), begin, begin + size);
      return;
    }
    if (size > bytes_.size() - position_) {
      throw std::logic_error("an archive is read in another way than it was written");
    }
    std::memcpy(data, bytes_.data() + position_, size);
    position_ += size;
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
    if constexpr (archive_detail::PlainValue<T> && !archive_detail::KnowsItsMemory<T>) {
      values(std::span(items));
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

  std::vector<std::byte> bytes_;
  std::size_t position_ = 0;
  bool reading_ = false;
};

}  // namespace CONCORD_API

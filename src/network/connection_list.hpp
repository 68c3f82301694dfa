#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/shared_text.hpp"
#include "support/text_column.hpp"

namespace concord {

/// "from" and "to" are "subsystem.variable": to = factor * from, beside the units' conversion.
struct ConnectionEntry {
  std::string from;
  std::string to;
  SharedText location;
  /// input = factor * (output in the input's unit) + offset.
  double factor = 1.0;
  double offset = 0.0;
  bool converts_units = true;
  double delay = 0.0;  ///< s: what arrives is what was put out so long before
  bool held = false;   ///< from one communication point to the next, whatever the method

  /// Whether but for their ends both are the same.
  bool is_like(const ConnectionEntry& other) const {
    return location == other.location && factor == other.factor && offset == other.offset &&
           converts_units == other.converts_units && delay == other.delay && held == other.held;
  }
};

/// Connections, which are put together when they are asked for: what those that stand one behind
/// the other have in common, like all of a `repeat`, is there once.
class ConnectionList {
 public:
  ConnectionList() = default;
  ConnectionList(const std::vector<ConnectionEntry>& entries) {
    for (const ConnectionEntry& entry : entries) push_back(entry);
  }
  ConnectionList(std::initializer_list<ConnectionEntry> entries)
      : ConnectionList(std::vector<ConnectionEntry>(entries)) {}

  std::size_t size() const { return like_.size(); }
  bool empty() const { return like_.empty(); }
  ConnectionEntry operator[](std::size_t i) const {
    ConnectionEntry result = known_[like_[i]];
    result.from = ends_[2 * i];
    result.to = ends_[2 * i + 1];
    return result;
  }

  void push_back(const ConnectionEntry& entry) {
    if (known_.empty() || !known_.back().is_like(entry)) {
      known_.push_back(entry);
      known_.back().from.clear();
      known_.back().to.clear();
    }
    like_.push_back(static_cast<std::uint32_t>(known_.size() - 1));
    ends_.push_back(entry.from);
    ends_.push_back(entry.to);
  }
  void shrink_to_fit() {
    ends_.shrink_to_fit();
    like_.shrink_to_fit();
    known_.shrink_to_fit();
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = ConnectionEntry;
    using reference = ConnectionEntry;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const ConnectionList& list, std::size_t i) : list_(&list), i_(i) {}
    ConnectionEntry operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return {*list_, i_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const ConnectionList* list_ = nullptr;
    std::size_t i_ = 0;
  };
  using const_iterator = Iterator;
  using value_type = ConnectionEntry;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// `change(entry)` of each, one after the other.
  template <class Change>
  void change(const Change& change) {
    ConnectionList result;
    for (ConnectionEntry entry : *this) {
      change(entry);
      result.push_back(entry);
    }
    *this = std::move(result);
  }
  template <class Goes>
  void erase_if(const Goes& goes) {
    ConnectionList result;
    for (const ConnectionEntry& entry : *this)
      if (!goes(entry)) result.push_back(entry);
    *this = std::move(result);
  }

 private:
  TextColumn ends_;                     ///< `from` and `to` of each
  std::vector<std::uint32_t> like_;     ///< which of `known_` each is like
  std::vector<ConnectionEntry> known_;  ///< without ends
};

}  // namespace concord

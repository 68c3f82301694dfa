#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace concord {

/// Values that do not change, of which equal ones are kept once, as long as somebody has them.
/// `Value` has == and hash().
template <class Value>
class Shared {
 public:
  /// `value`, or the one like it that there is.
  static std::shared_ptr<const Value> one_like(Value value) {
    static Shared all;
    return all.find_or_keep(std::move(value));
  }

 private:
  std::shared_ptr<const Value> find_or_keep(Value value) {
    const std::lock_guard lock(mutex_);
    const std::size_t hash = value.hash();
    const auto [begin, end] = known_.equal_range(hash);
    for (auto other = begin; other != end; ++other)
      if (auto same = other->second.lock(); same && *same == value) return same;
    forget_unused();
    auto result = std::make_shared<const Value>(std::move(value));
    known_.emplace(hash, result);
    return result;
  }

  /// Where they have become twice as many.
  void forget_unused() {
    if (known_.size() < most_) return;
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    most_ = 2 * known_.size() + 16;
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Value>> known_;
  std::size_t most_ = 16;
};

}  // namespace concord

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Whom a new start in the middle of a run reaches (methods 14.4): own subsystems in which
/// something has happened, and those whose inputs have changed by it.
class Touched {
 public:
  explicit Touched(std::size_t subsystems) : touched_(subsystems, 0), restarts_(subsystems, 0) {}

  void add(std::size_t k) { touched_[k] = 1; }
  void add_all() { std::fill(touched_.begin(), touched_.end(), 1); }
  bool contains(std::size_t k) const { return touched_[k] != 0; }

  /// The new start is over.
  void close() {
    for (std::size_t k = 0; k < touched_.size(); ++k) {
      restarts_[k] += touched_[k];
    }
    clear();
  }

  void clear() { std::fill(touched_.begin(), touched_.end(), 0); }

  /// How often k was among them.
  std::int64_t restarts(std::size_t k) const { return restarts_[k]; }

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::subsystem, touched_, restarts_); }

 private:
  std::vector<char> touched_;
  std::vector<std::int64_t> restarts_;
};

}  // namespace concord

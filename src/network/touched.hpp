#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Whom a new start in the middle of a run reaches (methods 14.4): own subsystems in which
/// something has happened, and those whose inputs have changed by it, or only begin to.
class Touched {
 public:
  explicit Touched(std::size_t subsystems) : touched_(subsystems, none), restarts_(subsystems, 0) {}

  void add(std::size_t k) { touched_[k] = all; }
  /// Its inputs' slopes or curvatures have changed, not their values.
  void add_slopes(std::size_t k) { touched_[k] = std::max(touched_[k], slopes); }
  void add_all() { std::fill(touched_.begin(), touched_.end(), all); }
  bool contains(std::size_t k) const { return touched_[k] != none; }
  bool contains_values(std::size_t k) const { return touched_[k] == all; }

  /// What happens at the instant is over, and values that were kept may become those that fit their
  /// inputs; or it goes on.
  void let_values_fit(bool fit) { values_fit_ = fit; }
  bool values_fit() const { return values_fit_; }

  /// The new start is over.
  void close() {
    for (std::size_t k = 0; k < touched_.size(); ++k) {
      restarts_[k] += contains(k) ? 1 : 0;
    }
    clear();
  }

  void clear() { std::fill(touched_.begin(), touched_.end(), none); }

  /// How often k was among them.
  std::int64_t restarts(std::size_t k) const { return restarts_[k]; }

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::subsystem, touched_, restarts_); }

 private:
  static constexpr char none = 0, slopes = 1, all = 2;

  std::vector<char> touched_;
  std::vector<std::int64_t> restarts_;
  bool values_fit_ = false;
};

}  // namespace concord

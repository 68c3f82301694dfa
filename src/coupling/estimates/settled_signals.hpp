#pragma once

#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// Which outputs have settled: of signals that have grown more than in proportion to time since a
/// quarter to half of it nobody knows yet what errors are relative to.
class SettledSignals {
 public:
  explicit SettledSignals(const RankNetwork& subsystems)
      : subsystems_(subsystems),
        then_(subsystems.n_outputs(), 0.0),
        before_(subsystems.n_outputs(), 0.0) {}

  bool settled(std::size_t output) const {
    constexpr double in_proportion = 4.0;
    return subsystems_.output_sizes()[output] <= in_proportion * before_[output];
  }

  /// How large signals are by now, `elapsed` s after the start.
  void remember(double elapsed);

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, half_);
    CONCORD_MEMBERS_PER(archive, Per::output, then_, before_);
  }

 private:
  const RankNetwork& subsystems_;
  double half_ = 0.0;                  ///< of the time elapsed, to all of it
  std::vector<double> then_, before_;  ///< sizes at that time, and the one before
};

}  // namespace concord

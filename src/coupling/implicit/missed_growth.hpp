#pragma once

#include <span>
#include <vector>

#include "coupling/implicit/input_misses.hpp"

namespace concord {

/// How much signals grow while predictions miss them in macro-step after macro-step: what grows
/// without bounds then is no result.
class MissedGrowth {
 public:
  explicit MissedGrowth(const RankNetwork& subsystems)
      : subsystems_(subsystems), sizes_(subsystems.connected_inputs().size(), 0.0) {}

  /// Of a trial whose inputs are fed `fed`. Collective.
  void look(const InputMisses& misses, std::span<const Sample> fed);

  /// Whether an iteration must confirm it; and whether it is no result, however long it was missed
  /// noticeably, being far off for some macro-steps.
  bool doubtful() const { return factor_ > 1e6; }
  bool astray(const InputMisses& misses) const;

  /// Of the signal that has grown most since they are missed; 1 where they aren't.
  double factor() const { return factor_; }
  /// Macro-steps in a row that missed noticeably, with that of the trial.
  int macro_steps() const { return missed_ + 1; }

  /// The trial was accepted.
  void commit(const InputMisses& misses);
  void restart() { missed_ = far_off_ = 0; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, missed_, far_off_);
    CONCORD_MEMBERS_PER(archive, Per::connected, sizes_);
  }

 private:
  const RankNetwork& subsystems_;
  double factor_ = 1.0;
  int missed_ = 0;             ///< macro-steps, the last ones, that missed noticeably
  int far_off_ = 0;            ///< and those that were far off
  std::vector<double> sizes_;  ///< of the connected inputs before these
};

}  // namespace concord

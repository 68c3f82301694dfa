#pragma once

#include <span>
#include <utility>
#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// What the outputs of a trial feed, and what that means for inputs that are held between events.
class TrialFeed {
 public:
  explicit TrialFeed(RankNetwork& subsystems) : subsystems_(subsystems) {}

  /// Held inputs stay at the point's values until the next one, in every trial from the first
  /// guess.
  void hold(CommunicationPoint& point, Trial& trial);

  /// P y of the trial. Collective.
  std::span<const Sample> feed(const Trial& trial);

  /// What has come to the accepted point: what `feed` told last, unless inputs have been made
  /// consistent or changed since, bit by bit what subsystems were asked for events with.
  std::span<const Sample> arrived(const CommunicationPoint& point) const {
    return known_ ? std::span<const Sample>(fed_) : point.inputs;
  }
  void forget_arrived() { known_ = false; }

  /// The trial is accepted: what feeds held inputs at its end; `fed`: it is known. Collective.
  void renew_held(const CommunicationPoint& point, Trial& trial, bool fed);

  /// Whether one has changed then, on any rank.
  bool held_changed() const { return held_changed_; }
  void forget_held_change() { held_changed_ = false; }

 private:
  RankNetwork& subsystems_;
  std::vector<Sample> fed_;
  bool known_ = false;  ///< fed_ is of the last trial
  bool held_changed_ = false;
};

}  // namespace concord

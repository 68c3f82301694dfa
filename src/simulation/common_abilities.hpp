#pragma once

#include "network/rank_network.hpp"
#include "settings/settings.hpp"

namespace concord {

/// What all subsystems of the network can do, which decides how macro-steps are made.
class CommonAbilities {
 public:
  /// Collective.
  CommonAbilities(const Settings& settings, const RankNetwork& subsystems);

  /// After the start, at which events may have been found. Collective.
  void note_events(bool events);

  /// Whether macro-steps can be taken back, where that is of use.
  bool rolls_back() const { return rolls_back_; }

  /// Whether they can be repeated to another end; methods that repeat only the others' may have
  /// somebody who cannot. Collective.
  bool can_repeat() const;

  /// Outputs of all subsystems at the stop need no step.
  bool evaluated_at_stop() const { return evaluated_at_stop_; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, rolls_back_, evaluated_at_stop_); }

 private:
  bool everyone(bool (*can)(const SubsystemDescription&)) const;
  bool can_roll_back(bool events) const;
  bool outputs_need_no_step() const;

  const Settings& settings_;
  const RankNetwork& subsystems_;
  bool rolls_back_;
  bool evaluated_at_stop_;
};

}  // namespace concord

#include "simulation/trial_feed.hpp"

#include "support/agreement.hpp"

namespace concord {

void TrialFeed::hold(CommunicationPoint& point, Trial& trial) {
  forget_arrived();
  subsystems_.hold(point.inputs);
  trial.inputs.resize(point.inputs.size());
  for (const std::size_t i : subsystems_.held_inputs()) {
    point.inputs[i].derivative = 0.0;
    trial.inputs[i] = point.inputs[i];
  }
}

std::span<const Sample> TrialFeed::feed(const Trial& trial) {
  fed_.assign(trial.inputs.begin(), trial.inputs.end());
  subsystems_.exchange(trial.outputs, fed_);
  known_ = true;
  return fed_;
}

void TrialFeed::renew_held(const CommunicationPoint& point, Trial& trial, bool fed) {
  if (!subsystems_.network().has_held()) {
    return;
  }
  if (!fed) {
    feed(trial);
  }
  bool changed = false;
  for (const std::size_t i : subsystems_.held_inputs()) {
    const double value = point.inputs[i].value;
    trial.polynomials[i].c = {value, 0.0, 0.0, 0.0};
    trial.inputs[i] = {fed_[i].value, 0.0};
    changed = changed || fed_[i].value != value;
  }
  held_changed_ = agree_on_largest(subsystems_.comm(), changed ? 1 : 0) != 0;
}

}  // namespace concord

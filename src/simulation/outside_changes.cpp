#include "simulation/outside_changes.hpp"

namespace concord {

void OutsideChanges::add(std::span<const InputChange> inputs) {
  any_ = true;
  any_input_ = any_input_ || !inputs.empty();
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
}

void OutsideChanges::apply(CommunicationPoint& point, Trial& trial) {
  for (const auto& [input, value] : inputs_) {
    point.inputs[input] = trial.inputs[input] = {value, 0.0};
    trial.polynomials[input].c = {value, 0.0, 0.0, 0.0};
    subsystems_.touch_owner(input);
  }
  inputs_.clear();
}

/// Of each subsystem with the inputs' positions among its own.
void OutsideChanges::io(Archive& archive) {
  CONCORD_MEMBERS(archive, any_, any_input_);
  std::vector<InputChange> all;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange own = subsystems_.inputs_of(k);
    std::vector<InputChange> changes;
    for (const InputChange& change : inputs_) {
      if (own.first <= change.input && change.input < own.last) {
        changes.push_back({change.input - own.first, change.value});
      }
    }
    archive.within(k, [&] { CONCORD_MEMBERS(archive, changes); });
    for (const InputChange& change : changes) {
      all.push_back({own.first + change.input, change.value});
    }
  }
  inputs_ = std::move(all);
}

}  // namespace concord

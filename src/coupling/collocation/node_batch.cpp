#include "coupling/collocation/node_batch.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

NodeBatch::NodeBatch(const RankNetwork& subsystems, const SubsystemBatch& batch) : batch_(batch) {
  for (const std::size_t k : batch.members) {
    states_.push_back(subsystems.states_of(k).first);
    inputs_.push_back(subsystems.inputs_of(k).first);
    outputs_.push_back(subsystems.outputs_of(k).first);
  }
  const std::size_t k = batch.members.front(), size = batch.members.size();
  x_.resize(subsystems.states_of(k).size() * size);
  u_.resize(subsystems.inputs_of(k).size() * size);
  f_.resize(x_.size());
  y_.resize(subsystems.outputs_of(k).size() * size);
}

bool NodeBatch::evaluate(double t, const double* states, std::span<const Sample> inputs,
                         double* slopes, std::span<Sample> outputs) {
  const std::size_t size = states_.size();
  for (std::size_t row = 0; row < x_.size(); row += size)
    for (std::size_t i = 0; i < size; ++i) x_[row + i] = states[states_[i] + row / size];
  for (std::size_t row = 0; row < u_.size(); row += size)
    for (std::size_t i = 0; i < size; ++i) u_[row + i] = inputs[inputs_[i] + row / size].value;
  if (!batch_.steps->derivatives(t, x_, u_, f_) || !batch_.steps->outputs(t, x_, u_, y_))
    return false;
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(f_, finite) || !std::ranges::all_of(y_, finite)) return false;
  for (std::size_t row = 0; row < f_.size(); row += size)
    for (std::size_t i = 0; i < size; ++i) slopes[states_[i] + row / size] = f_[row + i];
  for (std::size_t row = 0; row < y_.size(); row += size)
    for (std::size_t i = 0; i < size; ++i) outputs[outputs_[i] + row / size] = {y_[row + i]};
  batch_.steps->count_evaluations(1);
  return true;
}

}  // namespace concord

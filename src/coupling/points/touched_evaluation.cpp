#include "coupling/points/touched_evaluation.hpp"

#include <algorithm>

namespace concord {

TouchedEvaluation::TouchedEvaluation(RankNetwork& subsystems, const CommunicationPoint& point)
    : CommunicationPointEvaluation(subsystems),
      subsystems_(subsystems),
      inputs_(point.inputs),
      outputs_(point.outputs) {}

/// Slopes and curvatures of inputs matter to those alone whose outputs depend on them directly: u'
/// is in their y', u'' in their y''. But u' is in every y''.
bool TouchedEvaluation::reached(std::size_t k, std::span<const Sample> inputs,
                                Wanted wanted) const {
  if (subsystems_.touched().contains(k)) {
    return true;
  }
  const IndexRange in = subsystems_.inputs_of(k);
  for (std::size_t i = in.first; i < in.last; ++i) {
    if (inputs[i].value != inputs_[i].value) {
      return true;
    }
  }
  const auto& direct = subsystems_.own(k).description().feedthrough;
  const auto moves = [&](std::size_t i) { return inputs[i].derivative != inputs_[i].derivative; };
  const auto bends = [&](std::size_t i) { return inputs[i].curvature != inputs_[i].curvature; };
  const auto any_direct = [&](const auto& differs) {
    return std::any_of(direct.begin(), direct.end(), [&](const Feedthrough& through) {
      return differs(in.first + through.input);
    });
  };
  switch (wanted) {
    case Wanted::values:
      return false;
    case Wanted::values_and_derivatives:
      return any_direct(moves);
    case Wanted::up_to_curvatures:
      break;
  }
  bool any = any_direct(bends);
  for (std::size_t i = in.first; i < in.last; ++i) {
    any = any || moves(i);
  }
  return any;
}

Outcome TouchedEvaluation::outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                                   std::span<Sample> outputs) {
  if (reached(k, inputs, wanted)) {
    subsystems_.touched().add(k);
    return CommunicationPointEvaluation::outputs(k, inputs, wanted, outputs);
  }
  const IndexRange out = subsystems_.outputs_of(k);
  std::copy_n(outputs_.begin() + static_cast<std::ptrdiff_t>(out.first), out.size(),
              outputs.begin() + static_cast<std::ptrdiff_t>(out.first));
  return Outcome::ok;
}

}  // namespace concord

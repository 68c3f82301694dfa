#include "coupling/points/touched_evaluation.hpp"

#include <algorithm>

namespace concord {

TouchedEvaluation::TouchedEvaluation(RankNetwork& subsystems, const CommunicationPoint& point)
    : CommunicationPointEvaluation(subsystems),
      subsystems_(subsystems),
      inputs_(point.inputs),
      outputs_(point.outputs) {}

bool TouchedEvaluation::reached_by_values(std::size_t k, std::span<const Sample> inputs) const {
  if (subsystems_.touched().contains_values(k)) return true;
  const IndexRange in = subsystems_.inputs_of(k);
  for (std::size_t i = in.first; i < in.last; ++i)
    if (inputs[i].value != inputs_[i].value) return true;
  return false;
}

/// Slopes and curvatures of inputs matter to those alone whose outputs depend on them directly: u'
/// is in their y', u'' in their y''. But u' is in every y''.
bool TouchedEvaluation::reached_by_slopes(std::size_t k, std::span<const Sample> inputs,
                                          Wanted wanted) const {
  if (subsystems_.touched().contains(k)) return true;
  const IndexRange in = subsystems_.inputs_of(k);
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

/// Whom it has reached, and who answers at once to inputs: these were given others in the
/// macro-step than they are fed, or others have moved them by fitting theirs. Black boxes tell of
/// the latter.
bool TouchedEvaluation::is_to_fit(std::size_t k, std::span<const Sample> inputs) const {
  if (subsystems_.touched().contains(k)) return true;
  const SubsystemDescription& own = subsystems_.own(k).description();
  const std::size_t first = subsystems_.inputs_of(k).first;
  return std::ranges::any_of(own.feedthrough, [&](const Feedthrough& through) {
    const std::size_t i = first + through.input;
    return own.capabilities.state_outputs || inputs[i].value != inputs_[i].value;
  });
}

/// What fits touches nobody: nothing has happened to those that it moves.
bool TouchedEvaluation::is_evaluated(std::size_t k, std::span<const Sample> inputs, Wanted wanted) {
  Touched& touched = subsystems_.touched();
  if (touched.values_fit()) return is_to_fit(k, inputs);
  const bool by_values = reached_by_values(k, inputs);
  if (by_values) {
    touched.add(k);
  } else if (!reached_by_slopes(k, inputs, wanted)) {
    return false;
  } else {
    touched.add_slopes(k);
  }
  return true;
}

/// Of values, slopes and curvatures those that are not wanted are as they were: who is asked for
/// slopes in a stage before that of its inputs' does not see them come to nothing.
void TouchedEvaluation::keep_others(std::size_t k, Wanted wanted, std::span<Sample> outputs) const {
  const Touched& touched = subsystems_.touched();
  const bool values = touched.contains_values(k) || touched.values_fit();
  const IndexRange out = subsystems_.outputs_of(k);
  for (std::size_t o = out.first; o < out.last; ++o) {
    if (!values) outputs[o].value = outputs_[o].value;
    if (wanted < Wanted::values_and_derivatives) outputs[o].derivative = outputs_[o].derivative;
    if (wanted < Wanted::up_to_curvatures) outputs[o].curvature = outputs_[o].curvature;
  }
}

Outcome TouchedEvaluation::outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                                   std::span<Sample> outputs) {
  if (!is_evaluated(k, inputs, wanted)) {
    const IndexRange out = subsystems_.outputs_of(k);
    std::copy_n(outputs_.begin() + static_cast<std::ptrdiff_t>(out.first), out.size(),
                outputs.begin() + static_cast<std::ptrdiff_t>(out.first));
    return Outcome::ok;
  }
  const Outcome outcome = CommunicationPointEvaluation::outputs(k, inputs, wanted, outputs);
  keep_others(k, wanted, outputs);
  return outcome;
}

}  // namespace concord

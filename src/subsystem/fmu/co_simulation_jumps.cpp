#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

/// An FMU without event mode doesn't tell of its events. What only events change shows them, and
/// where macro-steps are taken back anyway their instants can be enclosed.
bool CoSimulation::finds_jumps() const {
  const FmuUse& use = fmu_.use();
  return finds_ && taken_back_ && makes_trials(use) && !use.event_mode &&
         use.internal_step == 0.0 && std::ranges::find(continuous_, 0) != continuous_.end();
}

/// Since the macro-step began.
bool CoSimulation::has_jumped() const {
  const std::vector<double>&y = fmu_.now().y, &before = saved_.point.y;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!continuous_[i] && y[i] != before[i]) return true;
  return false;
}

/// In the piece that has just been made: where there is a jump the FMU waits before it, at the end
/// of the macro-step, or goes on over it.
bool CoSimulation::look_for_jump(std::size_t piece, std::span<const Polynomial> inputs,
                                 double begin) {
  if (!fmu_.read_outputs()) return false;
  if (!has_jumped()) return true;
  seeks_ = false;
  StepPiece rest = pieces_.all()[piece];
  double behind = rest.end;
  slopes_.samples().begin();
  if (!fmu_.restore(saved_)) return false;
  for (std::size_t k = 0; k < piece; ++k)
    if (!run_piece(inputs, begin, pieces_.all()[k])) return false;
  if (!fmu_.save(trial_)) return false;
  if (!enclose_jump(rest, inputs, begin, behind)) {
    fmu_.tell(fmu_.failure() + "; instants at which its outputs jump are not looked for");
    fmu_.forget_end();
    finds_ = false;
    description_.events = knows_events();
  }
  if (!fmu_.restore(trial_)) return false;
  if (finds_ && fmu_.meet_jump(behind)) return !rest.sample || sample(*rest.sample);
  rest.begin = fmu_.now().t;
  return run_piece(inputs, begin, rest);
}

/// The saved trial, at the begin of the piece, moves on to before the jump. False where the FMU
/// refuses steps that are short enough.
bool CoSimulation::enclose_jump(const StepPiece& piece, std::span<const Polynomial> inputs,
                                double begin, double& behind) {
  constexpr double share = 1e-10, rounding = 64.0 * std::numeric_limits<double>::epsilon();
  constexpr double at_end = 3.0;
  const double resolution = std::max(
      {fmu_.events().slack(), share * (piece.end - begin), rounding * std::abs(piece.end)});
  double before = piece.begin;
  behind = piece.end;
  double probe = std::max(behind - at_end * resolution, 0.5 * (before + behind));
  while (behind - before > at_end * resolution) {
    if (!run_piece(inputs, begin, {before, probe, piece.hold_at, {}}) || !fmu_.read_outputs())
      return false;
    if (has_jumped()) {
      behind = probe;
      if (!fmu_.restore(trial_)) return false;
    } else {
      before = probe;
      if (!fmu_.save(trial_)) return false;
    }
    probe = 0.5 * (before + behind);
  }
  return true;
}

/// At a communication point: over the jump that has waited there.
bool CoSimulation::pass_jump(std::span<const Sample> inputs, std::vector<Happening>& what) {
  if (!fmu_.take_jump(what)) return true;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines_[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  const double begin = fmu_.now().t;
  return run_piece(lines_, begin, {begin, fmu_.now().jump_end, {}, {}}) && fmu_.read_outputs() &&
         fmu_.read_states();
}

}  // namespace concord

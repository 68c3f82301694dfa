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

/// From what was told where the macro-step began.
bool CoSimulation::has_jumped() const {
  const std::vector<double>& y = fmu_.now().y;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!continuous_[i] && y[i] != told_[i]) return true;
  return false;
}

/// In the piece that has just been made: where there is a jump the FMU waits before it, at the end
/// of the macro-step, or goes on over it. What was due as soon as the piece began may have been so
/// in the one before, which has held its inputs at their middle.
bool CoSimulation::look_for_jump(std::size_t piece, std::span<const Polynomial> inputs,
                                 double begin) {
  if (!fmu_.read_outputs()) return false;
  if (!has_jumped()) return true;
  seeks_ = false;
  StepPiece rest = pieces_.all()[piece];
  double behind = rest.end;
  bool enclosed = false, earlier = false;
  for (std::size_t back = 0; back < 2 && back <= piece && (back == 0 || earlier); ++back) {
    const StepPiece& within = pieces_.all()[piece - back];
    if (!go_again(piece - back, inputs, begin)) return false;
    enclosed = enclose_jump(within, inputs, begin, behind);
    if (!enclosed) break;
    earlier = within.hold_at && trial_.point.t == within.begin;
  }
  if (!enclosed) {
    fmu_.tell(fmu_.failure() + "; instants at which its outputs jump are not looked for");
    fmu_.forget_end();
    finds_ = false;
    description_.events = knows_events();
  }
  if (!fmu_.restore(trial_)) return false;
  awaited_ = behind;
  if (enclosed && fmu_.meet_jump(behind)) return !rest.sample || sample(*rest.sample);
  rest.begin = fmu_.now().t;
  return run_piece(inputs, begin, rest);
}

/// To what instants in the macro-step under way are enclosed, s.
double CoSimulation::resolution(double begin) const {
  constexpr double share = 3e-10, rounding = 256.0 * std::numeric_limits<double>::epsilon();
  const double end = pieces_.all().back().end;
  return std::max({2.0 * fmu_.events().slack(), share * (end - begin), rounding * std::abs(end)});
}

/// To the begin of a piece of the macro-step, which is kept.
bool CoSimulation::go_again(std::size_t piece, std::span<const Polynomial> inputs, double begin) {
  slopes_.samples().begin();
  if (!fmu_.restore(saved_)) return false;
  for (std::size_t k = 0; k < piece; ++k)
    if (!run_piece(inputs, begin, pieces_.all()[k])) return false;
  return fmu_.save(trial_);
}

/// What was kept, at the begin of the piece, moves on to before the jump. Where inputs are held
/// they are those of the end of each step, so that it has jumped if these make it. False where the
/// FMU refuses steps that are short enough.
bool CoSimulation::enclose_jump(const StepPiece& piece, std::span<const Polynomial> inputs,
                                double begin, double& behind) {
  const double end = pieces_.all().back().end, close = resolution(begin);
  double before = piece.begin;
  behind = piece.end;
  double probe = std::max(behind - close, 0.5 * (before + behind));
  while (behind - before > close) {
    StepPiece part{before, probe, {}, {}};
    if (piece.hold_at) part.hold_at = probe - begin;
    if (!run_piece(inputs, begin, part) || !fmu_.read_outputs()) return false;
    if (has_jumped()) {
      behind = probe;
      if (!fmu_.restore(trial_)) return false;
    } else {
      before = probe;
      if (!fmu_.save(trial_)) return false;
    }
    probe = 0.5 * (before + behind);
  }
  if (end - behind <= close) behind = end;
  return true;
}

/// At a communication point: over the jump that has waited there. What others leave in inputs may
/// delay it a little.
bool CoSimulation::pass_jump(std::vector<Happening>& what) {
  constexpr double little = 1e-6;
  const auto tell = [&] { what.push_back({0, "jump of outputs"}); };
  if (fmu_.take_passed_jump()) tell();
  if (!fmu_.take_jump()) return true;
  const FmuPoint& now = fmu_.now();
  const double begin = now.t, end = now.jump_end;
  const double last = std::max(end, std::min(begin + little * longest_, fmu_.stop_time()));
  if (!fmu_.save(trial_)) return false;
  double next = end > begin ? end : begin + resolution(begin - h_);
  for (; !has_jumped() && next <= last; next += next - begin)
    if (!run_piece(last_lines_, begin, {now.t, next, {}, {}}) || !fmu_.read_outputs()) return false;
  if (!has_jumped()) return fmu_.restore(trial_);
  tell();
  return fmu_.read_states();
}

}  // namespace concord

#include <algorithm>
#include <cmath>
#include <utility>

#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

namespace {

constexpr int most_steps_ahead = 100;

}  // namespace

/// After initialisation the outputs are those that were put out last, but where what they depend on
/// directly has jumped since.
Outcome CoSimulation::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  if (initializing() &&
      !told(fmu_.take_inputs(inputs) && fmu_.read_outputs() && fmu_.read_states()))
    return Outcome::failed;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines_[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  answers_ = fmu_.now().y;
  slopes_.clear();
  const bool slopes = wanted == Wanted::values_and_derivatives;
  const std::vector<std::size_t> outdated = fmu_.outdated(inputs);
  const bool good = outdated.empty() ? !slopes || start_slopes() : answer_anew(outdated, slopes);
  if (!told(good)) return Outcome::failed;
  answered_at_ = fmu_.now().t;
  for (std::size_t i = 0; i < answers_.size(); ++i) outputs[i] = {answers_[i], slopes_.values()[i]};
  return Outcome::ok;
}

/// y' before a step: by linearization, by a trial that is rolled back, as the FMU tells, or zero.
bool CoSimulation::start_slopes() {
  const FmuUse& use = fmu_.use();
  if (!looked_ahead_ && use.state && !initializing() && !look_ahead()) return false;
  if (description_.capabilities.linearization) return slopes_.by_linearization(lines_, 0.0);
  double distance = 0.0;
  if (makes_trials(use) && use.internal_step == 0.0) {
    if (!try_forward(distance)) return false;
    slopes_.by_samples_ahead(answers_, distance);
    return true;
  }
  if (slopes_.source() == SlopeSource::fmu) slopes_.from_fmu();
  return true;
}

/// y, and y' where it is wanted, behind a jump of inputs or parameters. A Get after a Set needs a
/// step between, which a trial makes; without one, directional derivatives lead from the old
/// inputs to the new ones.
bool CoSimulation::answer_anew(std::span<const std::size_t> outdated, bool slopes) {
  const bool linear = description_.capabilities.linearization;
  if (makes_trials(fmu_.use())) {
    double distance = 0.0;
    if (!try_forward(distance, slopes && linear)) return false;
    for (const std::size_t i : outdated)
      answers_[i] = slopes_.samples().before(i).value_or(answers_[i]);
    if (slopes && !linear) slopes_.by_samples_ahead(answers_, distance);
    return true;
  }
  if (linear && !fmu_.now().parameters_due && !fmu_.now().texts_due) {
    if (!slopes_.jacobians().follow(lines_, answers_)) return false;
  } else if (!std::exchange(told_late_, true)) {
    fmu_.tell("inputs or parameters jump at t = " + short_number(fmu_.now().t) +
              " s; without rollback and steps of any size its outputs answer one macro-step late");
  }
  return !slopes || start_slopes();
}

/// `work`, after which the FMU stands where it did.
template <class Work>
bool CoSimulation::on_trial(const Work& work) {
  if (!fmu_.save(trial_)) return false;
  const bool could_go_back = fmu_.may_go_back(true);
  const bool good = work();
  fmu_.may_go_back(could_go_back);
  const bool back = fmu_.restore(trial_);
  fed_ = fmu_.now().u;
  return back && good;
}

/// Samples a few short steps ahead, one internal step where the FMU has these, with inputs
/// u + u' tau, `distance` s apart; none beyond the stop. `linear`: slopes by linearization behind
/// the first of them, which what has happened has gone through; before it without one.
bool CoSimulation::try_forward(double& distance, bool linear) {
  constexpr double before_stop = 0.999;
  const double begin = fmu_.now().t, internal = fmu_.use().internal_step;
  const int count = internal > 0.0 ? 1 : forward_samples;
  const double room = before_stop * (fmu_.stop_time() - begin) / static_cast<double>(count);
  const double size = distance = internal > 0.0 ? internal : std::min(1e-3 * h_, room);
  slopes_.samples().begin();
  if (!(begin + size > begin) || size > room)
    return !linear || slopes_.by_linearization(lines_, 0.0);
  return on_trial([&] {
    bool going = fmu_.set_due_parameters() && fmu_.feed_held(lines_);
    for (int k = 0; going && k < count; ++k) {
      const double left = begin + k * size, right = begin + (k + 1) * size;
      for (const StepPiece& piece : pieces_to(left, right, begin, settings()))
        going = going && run_piece(lines_, begin, piece);
      going = going && sample(k) && (!linear || k > 0 || slopes_.by_linearization(lines_, size));
    }
    return going;
  });
}

/// Where macro-steps are repeated, before the first: an iteration must not find out in its midst
/// that outputs move in stairs, because its residual would no longer be a smooth function of the
/// inputs.
bool CoSimulation::look_ahead() {
  const FmuUse& use = fmu_.use();
  const bool cuts = !takes_cubics(use) || slopes_.source() == SlopeSource::differences;
  if (std::exchange(looked_ahead_, true) || !cuts || use.micro_steps < 2 || !use.state ||
      !use.variable_steps || use.internal_step > 0.0)
    return true;
  StairWatch stairs;
  const bool back = on_trial([&] {
    walk_ahead(stairs);
    return true;
  });
  fmu_.forget_end();
  if (back && stairs.internal_step() > 0.0) take_internal_step(stairs.internal_step());
  return back;
}

/// In micro-steps with the inputs that the FMU has, until its outputs flow, or are known not to.
void CoSimulation::walk_ahead(StairWatch& stairs) {
  const FmuPoint& now = fmu_.now();
  const double begin = now.t, size = h_ / fmu_.use().micro_steps;
  if (!fmu_.set_due_parameters()) return;
  for (int k = 1; k <= most_steps_ahead && stairs.internal_step() == 0.0 && !stairs.flows(); ++k) {
    const double left = now.t, end = begin + k * size;
    before_ = now.y;
    if (end > fmu_.stop_time() || fmu_.reaches_event(end)) return;
    ++counters_.micro_steps;
    if (!fmu_.step(end, nullptr) || !fmu_.read_outputs()) return;
    stairs.look(now.t, now.t - left, moved(), false);
  }
}

/// Whether any output is another than `before_`; what counts is no output of integrated steps.
bool CoSimulation::moved() const {
  const std::vector<double>& y = fmu_.now().y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double change = y[i] - before_[i];
    if (continuous_[i] && change != std::nearbyint(change)) return true;
  }
  return false;
}

bool CoSimulation::look_for_stairs(double size) {
  before_ = fmu_.now().y;
  if (!fmu_.read_outputs()) return false;
  const bool fed = fed_ != fmu_.now().u;
  fed_ = fmu_.now().u;
  stairs_.look(fmu_.now().t, size, moved(), fed);
  if (stairs_.internal_step() > 0.0) take_internal_step(stairs_.internal_step());
  return true;
}

void CoSimulation::take_internal_step(double size) {
  fmu_.use().internal_step = size;
  fmu_.tell("its outputs move in stairs of " + short_number(size) +
            " s, which it doesn't declare; from t = " + short_number(fmu_.now().t) +
            " s on it is neither stepped nor differenced within them");
}

Outcome CoSimulation::state_derivatives(std::span<const Sample> inputs, std::span<double> result) {
  return outcome(slopes_.jacobians().derivatives(inputs, result));
}

Outcome CoSimulation::linearize(std::span<const Sample> inputs, Linearization& result) {
  const FmuPoint& now = fmu_.now();
  result.f.resize(now.x.size());
  result.f_t.assign(now.x.size(), 0.0);
  result.g_t.assign(now.y.size(), 0.0);
  result.g = now.y;
  FmuJacobians& jacobians = slopes_.jacobians();
  return outcome(jacobians.find(result) && jacobians.derivatives(inputs, result.f));
}

}  // namespace concord

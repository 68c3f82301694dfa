#include <algorithm>
#include <utility>

#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

namespace {

constexpr int most_steps_ahead = 100;

}  // namespace

/// After initialisation the outputs are those that were put out last.
Outcome CoSimulation::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  if (initializing() &&
      !told(fmu_.take_inputs(inputs) && fmu_.read_outputs() && fmu_.read_states()))
    return Outcome::failed;
  const std::vector<double>& y = fmu_.now().y;
  for (std::size_t i = 0; i < y.size(); ++i) outputs[i] = {y[i], 0.0};
  if (wanted == Wanted::values) return Outcome::ok;
  if (!told(start_slopes(inputs))) return Outcome::failed;
  for (std::size_t i = 0; i < y.size(); ++i) outputs[i].derivative = slopes_.values()[i];
  return Outcome::ok;
}

/// y' before a step: by linearization, by a trial that is rolled back, as the FMU tells, or zero.
bool CoSimulation::start_slopes(std::span<const Sample> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines_[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  slopes_.clear();
  const FmuUse& use = fmu_.use();
  if (!looked_ahead_ && use.state && !initializing() && !look_ahead()) return false;
  if (description_.capabilities.linearization) return slopes_.by_linearization(lines_, 0.0);
  if (use.variable_steps && use.state && use.internal_step == 0.0) return try_forward(lines_);
  if (slopes_.source() == SlopeSource::fmu) slopes_.from_fmu();
  return true;
}

/// `work`, after which the FMU stands where it did.
template <class Work>
bool CoSimulation::on_trial(const Work& work) {
  if (!fmu_.save(trial_)) return false;
  const bool could_go_back = fmu_.may_go_back(true);
  const bool good = work();
  fmu_.may_go_back(could_go_back);
  return fmu_.restore(trial_) && good;
}

/// Four short steps with inputs u + u' tau; none beyond the stop.
bool CoSimulation::try_forward(std::span<const Polynomial> lines) {
  constexpr double before_stop = 0.999;
  const double begin = fmu_.now().t;
  const double size = std::min(
      1e-3 * h_, before_stop * (fmu_.stop_time() - begin) / static_cast<double>(forward_samples));
  if (!(begin + size > begin)) return true;
  const bool good = on_trial([&] {
    bool going = fmu_.set_due_parameters() && fmu_.feed_held(lines);
    slopes_.samples().begin();
    for (int k = 0; going && k < forward_samples; ++k) {
      const double left = begin + k * size, right = begin + (k + 1) * size;
      for (const StepPiece& piece : pieces_to(left, right, begin, settings()))
        going = going && run_piece(lines, begin, piece);
      going = going && sample(k);
    }
    return going;
  });
  if (good) slopes_.by_samples_ahead(size);
  return good;
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
    stairs.look(now.t, now.t - left, before_ != now.y);
  }
}

bool CoSimulation::look_for_stairs(double size) {
  before_ = fmu_.now().y;
  if (!fmu_.read_outputs()) return false;
  stairs_.look(fmu_.now().t, size, before_ != fmu_.now().y);
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

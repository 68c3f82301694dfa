#include "coupling/implicit/monolithic_coupling.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/implicit/network_equations.hpp"
#include "coupling/points/start.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/agreement.hpp"

namespace concord {

namespace {

/// A multistep method is the cheapest, where it need not begin anew at events.
SubsystemSettings reference_settings(SubsystemSettings settings, bool events) {
  if (settings.integrator == IntegratorKind::automatic && !events) {
    settings.integrator = IntegratorKind::cvode_bdf;
  }
  return settings;
}

}  // namespace

MonolithicCoupling::MonolithicCoupling(RankNetwork& subsystems, const SubsystemSettings& settings)
    : subsystems_(subsystems),
      settings_(reference_settings(settings, subsystems.network().has_events())) {}

/// Only a subsystem that has been started knows whether it has events.
void MonolithicCoupling::refuse_events() const {
  std::optional<std::string> failure;
  for (std::size_t k = 0; k < subsystems_.n_own() && !failure; ++k) {
    Subsystem& subsystem = subsystems_.own(k);
    if (subsystem.equations() == nullptr && !subsystem.description().constraint) {
      failure = "subsystem '" + subsystem.description().name +
                "' has events, which monolithic cannot handle; choose another -cosim_type";
    }
  }
  if (failure = agree_on_text(subsystems_.comm(), failure); failure) {
    throw InputError(*failure);
  }
}

void MonolithicCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_subsystems(subsystems_, first, stop);
  point.time = time_ = first.begin;
  point.inputs = subsystems_.start_inputs();
  point.outputs.resize(subsystems_.n_outputs());
  point.polynomials.resize(subsystems_.n_inputs());
  ConsistentInputs consistent(subsystems_);
  end_initialization(subsystems_, consistent, first, point);
  refuse_events();
  first_ = first;
  stop_ = stop;
  make_whole();
  put_out(point);
}

/// Where the subsystems stand.
void MonolithicCoupling::make_whole() {
  auto equations = std::make_unique<NetworkEquations>(subsystems_);
  equations_ = equations.get();
  auto description = describe_ode("monolithic", "monolithic", equations->interface());
  description.events = equations->has_events();
  whole_ = make_ode_subsystem(std::move(description), std::move(equations), settings_);
  whole_->enter(subsystems_.smooth_interval());
  whole_->start(first_, stop_);
}

/// Whoever reads has subsystems that stand at the start.
void MonolithicCoupling::io(Archive& archive) {
  CONCORD_MEMBERS(archive, first_, stop_, time_, next_);
  if (archive.reading()) {
    make_whole();
  }
  CONCORD_MEMBERS(archive, *equations_);
  archive.enter(*whole_);
  whole_->io(archive);
}

void MonolithicCoupling::restart(CommunicationPoint& point) {
  equations_->take_inputs(point.inputs);
  whole_->enter(subsystems_.smooth_interval());
  next_ = InputContinuity::broken;
  put_out(point);
}

void MonolithicCoupling::put_out(CommunicationPoint& point) {
  if (whole_->point_outputs({}, Wanted::values_and_derivatives, point.outputs) != Outcome::ok) {
    throw SimulationError(whole_->failure());
  }
  subsystems_.exchange(point.outputs, point.inputs);
  point.slopes_known = true;
}

CouplingReport MonolithicCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                         Trial& trial) {
  CouplingReport report;
  report.evaluations = 1;
  report.retryable = false;
  const auto continuity = std::exchange(next_, InputContinuity::smooth);
  if (point.last_step > 0.0) {
    equations_->complete_step(time_, whole_->states());
  }
  time_before_ = std::exchange(time_, step.end);
  if (whole_->description().events) {
    whole_->save();
  }
  const auto advance = [&] {
    const WorkScope timed(subsystems_.clock(), 0, Work::advance);
    return whole_->advance(step, {}, continuity, Wanted::values_and_derivatives, trial.outputs);
  };
  if (advance() != Outcome::ok) {
    report.status = CouplingStatus::failed;
    return report;
  }
  subsystems_.exchange(trial.outputs, trial.inputs);
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.polynomials[i] =
        from_guess(Hold::hermite, point.inputs[i], trial.inputs[i], step.size(), true);
  }
  return report;
}

/// At an event within the macro-step.
void MonolithicCoupling::rejected() {
  whole_->restore();
  time_ = time_before_;
  next_ = InputContinuity::broken;
}

/// The guesses from which eliminated inputs are found stay as they were.
bool MonolithicCoupling::retrace(const MacroStep& step, std::span<double> states,
                                 std::span<Sample> outputs) {
  Archive guesses;
  guesses(*equations_);
  const Outcome outcome = whole_->retrace(step, {}, states, outputs);
  Archive kept(guesses.bytes());
  kept(*equations_);
  return outcome == Outcome::ok;
}

PointEvaluation* MonolithicCoupling::evaluation() {
  equations_->point().stand_at(time_, whole_->states());
  return &equations_->point();
}

std::string MonolithicCoupling::explain(const CouplingReport& /*report*/) {
  return whole_->failure();
}

}  // namespace concord

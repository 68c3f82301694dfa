#include "coupling/implicit/monolithic_coupling.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/implicit/network_derivatives.hpp"
#include "coupling/implicit/whole_events.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/points/start.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/agreement.hpp"

namespace concord {

/// x' = f(t, x, P y), y = g(t, x, P y) of the whole network, whose subsystems have been started:
/// states and outputs of all subsystems one after the other, no inputs. Unknowns of direct
/// constraints (index 1) are eliminated with the inputs.
class MonolithicCoupling::NetworkEquations : public EventModel {
 public:
  explicit NetworkEquations(RankNetwork& subsystems)
      : subsystems_(subsystems),
        point_(subsystems),
        consistent_(subsystems),
        inputs_(subsystems.start_inputs()),
        outputs_(subsystems.n_outputs()),
        derivatives_(subsystems),
        events_(subsystems, point_) {}

  OdeInterface interface() const override {
    OdeInterface whole;
    whole.time_dependent = false;
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      const auto& d = subsystems_.own(k).description();
      const auto x = subsystems_.own(k).states();
      for (std::size_t i = 0; i < x.size(); ++i) {
        whole.states.push_back(
            {d.name + "." + d.states[i].name, d.states[i].unit, x[i], d.states[i].nominal});
      }
      for (const auto& output : d.outputs) {
        whole.outputs.push_back({d.name + "." + output.name, output.unit, output.nominal});
      }
      whole.time_dependent =
          whole.time_dependent || (!point_.stands_for_constraint(k) &&
                                   subsystems_.own(k).equations()->interface().time_dependent);
    }
    return whole;
  }

  void derivatives(double t, std::span<const double> x, std::span<const double>,
                   std::span<double> dxdt) override {
    eliminate_inputs(t, x);
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (point_.stands_for_constraint(k)) {
        continue;
      }
      const IndexRange states = subsystems_.states_of(k);
      point_.naming(k, [&](OdeModel& equations) {
        equations.derivatives(t, point_.states_of(k), point_.inputs_of(k),
                              dxdt.subspan(states.first, states.size()));
      });
    }
  }

  void outputs(double t, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    eliminate_inputs(t, x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = outputs_[i].value;
    }
  }

  /// The network has come to this point for good. Throws SimulationError where that makes an event.
  void complete_step(double t, std::span<const double> x) {
    eliminate_inputs(t, x);
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (!subsystems_.own(k).complete_step(t, point_.states_of(k), point_.inputs_of(k))) {
        throw SimulationError("subsystem '" + subsystems_.own(k).description().name +
                              "' has an event, which monolithic cannot handle; choose another "
                              "-cosim_type");
      }
    }
  }

  /// False where a subsystem has no Jacobians.
  bool jacobians(double t, std::span<const double> x, std::span<const double>,
                 const Jacobians& result) override {
    eliminate_inputs(t, x);
    return derivatives_.find(point_, inputs_, result);
  }

  /// y' = g_t + g_x f + g_u u' with u' = P y'. False where a subsystem doesn't give its part.
  bool output_slopes(double t, std::span<const double> x, std::span<const double>,
                     const Motion& motion, std::span<double> dydt) override {
    const Outcome outcome = solve_moving(t, x, motion);
    for (std::size_t i = 0; i < dydt.size(); ++i) {
      dydt[i] = outputs_[i].derivative;
    }
    return point_.slopes_given() && outcome == Outcome::ok;
  }

  bool has_events() const override { return events_.any(); }
  std::size_t indicator_count() const override { return events_.indicator_count(); }

  void indicators(double t, std::span<const double> x, std::span<const double>,
                  std::span<Indicator> z) override {
    eliminate_inputs(t, x);
    events_.indicators(z);
  }

  void indicator_slopes(double t, std::span<const double> x, std::span<const double>,
                        const Motion& motion, std::span<double> slopes) override {
    move_inputs(t, x, motion);
    events_.indicator_slopes(slopes);
  }

  double next_time_event() const override { return events_.next_time(); }

  bool is_told_of_changes() const override { return false; }

  /// The subsystems have begun.
  void begin(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/) override {}

  bool settle(const EventPoint& point, std::span<const double> x,
              std::vector<Happening>& what) override {
    move_inputs(point.t, x, point.motion);
    return events_.settle(point, what);
  }

  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override {
    move_inputs(point.t, x, point.motion);
    return events_.happen(point, x, what);
  }

  /// The subsystems' own, which pass it on themselves.
  void pass_events(Archive& /*archive*/) override {}
  void take_over(Archive& /*archive*/) override {}

  void io(Archive& archive) { CONCORD_MEMBERS(archive, inputs_, outputs_, consistent_); }

  /// Inputs that nothing feeds are these from now on.
  void take_inputs(std::span<const Sample> inputs) {
    std::copy(inputs.begin(), inputs.end(), inputs_.begin());
  }

  NetworkPoint& point() { return point_; }

 private:
  void eliminate_inputs(double t, std::span<const double> x) {
    point_.stand_at(t, x);
    if (consistent_.solve(point_, Wanted::values, inputs_, outputs_) != Outcome::ok) {
      throw RecoverableFailure(consistent_.failure());
    }
    point_.take(inputs_, Wanted::values);
  }

  Outcome solve_moving(double t, std::span<const double> x, const Motion& motion) {
    point_.stand_at(t, x);
    point_.move_by(motion.dxdt);
    return consistent_.solve(point_, Wanted::values_and_derivatives, inputs_, outputs_);
  }

  /// Eliminated inputs with their slopes.
  void move_inputs(double t, std::span<const double> x, const Motion& motion) {
    if (solve_moving(t, x, motion) != Outcome::ok) {
      throw RecoverableFailure(consistent_.failure());
    }
    point_.take(inputs_, Wanted::values_and_derivatives);
  }

  RankNetwork& subsystems_;
  NetworkPoint point_;
  ConsistentInputs consistent_;
  std::vector<Sample> inputs_, outputs_;
  NetworkDerivatives derivatives_;
  WholeEvents events_;
};

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
  end_initialization(subsystems_, consistent, point);
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

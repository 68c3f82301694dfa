#include "coupling/monolithic_coupling.hpp"

#include <optional>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/start.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/agreement.hpp"
#include "support/exception_words.hpp"

namespace concord {

/// x' = f(t, x, P y), y = g(t, x, P y) of the whole network, whose subsystems have been started:
/// states and outputs of all subsystems one after the other, no inputs. Unknowns of direct
/// constraints (index 1) are eliminated with the inputs; what stands for a constraint has no states
/// and is the same at any time.
class MonolithicCoupling::NetworkEquations : public OdeModel, public PointEvaluation {
 public:
  explicit NetworkEquations(RankNetwork& subsystems)
      : subsystems_(subsystems),
        consistent_(subsystems),
        inputs_(subsystems.start_inputs()),
        outputs_(subsystems.n_outputs()),
        input_values_(subsystems.n_inputs()),
        output_values_(subsystems.n_outputs()) {}

  OdeInterface interface() const override {
    OdeInterface whole;
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
    }
    return whole;
  }

  void derivatives(double t, std::span<const double> x, std::span<const double>,
                   std::span<double> dxdt) override {
    eliminate_inputs(t, x);
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      const auto states = subsystems_.states_of(k);
      if (stands_for_constraint(k)) {
        continue;
      }
      naming(k, [&](OdeModel& equations) {
        equations.derivatives(t, x.subspan(states.first, states.size()), inputs_of(k),
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
      const auto states = subsystems_.states_of(k);
      if (!subsystems_.own(k).complete_step(t, x.subspan(states.first, states.size()),
                                            inputs_of(k))) {
        throw SimulationError("subsystem '" + subsystems_.own(k).description().name +
                              "' has an event, which monolithic cannot handle; choose another "
                              "-cosim_type");
      }
    }
  }

  /// Where the outputs are evaluated from now on.
  void stand_at(double t, std::span<const double> x) {
    t_ = t;
    x_ = x;
  }

 private:
  void eliminate_inputs(double t, std::span<const double> x) {
    stand_at(t, x);
    if (consistent_.solve(*this, Wanted::values, inputs_, outputs_) != Outcome::ok) {
      throw RecoverableFailure(consistent_.failure());
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      input_values_[i] = inputs_[i].value;
    }
  }

  /// Calls a subsystem's equations, whose failures don't know whose they are.
  template <class Call>
  void naming(std::size_t k, Call&& call) {
    const auto named = [&](const std::string& what) {
      return "subsystem '" + subsystems_.own(k).description().name + "': " + what;
    };
    try {
      call(*subsystems_.own(k).equations());
    } catch (const RecoverableFailure& failure) {
      throw RecoverableFailure(named(failure.what()));
    } catch (...) {
      throw SimulationError(named(in_words(std::current_exception())));
    }
  }

  bool stands_for_constraint(std::size_t k) const {
    return subsystems_.own(k).description().constraint.has_value();
  }

  std::span<const double> inputs_of(std::size_t k) const {
    const IndexRange range = subsystems_.inputs_of(k);
    return std::span(input_values_).subspan(range.first, range.size());
  }

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted,
                  std::span<Sample> outputs) override {
    if (stands_for_constraint(k)) {
      return subsystems_.point_outputs(k, inputs, Wanted::values, outputs);
    }
    const IndexRange in = subsystems_.inputs_of(k);
    const IndexRange out = subsystems_.outputs_of(k);
    const IndexRange states = subsystems_.states_of(k);
    for (std::size_t i = in.first; i < in.last; ++i) {
      input_values_[i] = inputs[i].value;
    }
    const auto y = std::span(output_values_).subspan(out.first, out.size());
    try {
      naming(k, [&](OdeModel& equations) {
        equations.outputs(t_, x_.subspan(states.first, states.size()), inputs_of(k), y);
      });
    } catch (const RecoverableFailure&) {
      return Outcome::failed;
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      outputs[out.first + i] = {y[i], 0.0};
    }
    return Outcome::ok;
  }

  bool feedthrough(std::size_t k, std::span<const Sample> inputs,
                   std::vector<double>& g_u) override {
    if (stands_for_constraint(k)) {
      return subsystems_.feedthrough(k, inputs, g_u);
    }
    const IndexRange in = subsystems_.inputs_of(k);
    const std::size_t n_st = subsystems_.states_of(k).size();
    const std::size_t n_out = subsystems_.outputs_of(k).size();
    for (std::size_t i = in.first; i < in.last; ++i) {
      input_values_[i] = inputs[i].value;
    }
    jacobians_.resize((n_st + n_out) * n_st + n_st * in.size());
    g_u.resize(n_out * in.size());
    const std::span<double> rest(jacobians_);
    const Jacobians all{rest.first(n_st * n_st), rest.subspan(n_st * n_st, n_st * in.size()),
                        rest.last(n_out * n_st), g_u};
    bool given = false;
    naming(k, [&](OdeModel& equations) {
      given = equations.jacobians(t_, x_.subspan(subsystems_.states_of(k).first, n_st),
                                  inputs_of(k), all);
    });
    return given;
  }

  double time() const override { return t_; }

  RankNetwork& subsystems_;
  ConsistentInputs consistent_;
  double t_ = 0.0;
  std::span<const double> x_;
  std::vector<Sample> inputs_, outputs_;
  std::vector<double> input_values_, output_values_, jacobians_;
};

namespace {

SubsystemSettings reference_settings(SubsystemSettings settings) {
  if (settings.integrator == IntegratorKind::automatic) {
    settings.integrator = IntegratorKind::cvode_bdf;
  }
  return settings;
}

}  // namespace

MonolithicCoupling::MonolithicCoupling(RankNetwork& subsystems, const SubsystemSettings& settings)
    : subsystems_(subsystems), settings_(reference_settings(settings)) {}

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
    throw SimulationError(*failure);
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
  auto equations = std::make_unique<NetworkEquations>(subsystems_);
  equations_ = equations.get();
  auto description = describe_ode("monolithic", "monolithic", equations->interface());
  whole_ = make_ode_subsystem(std::move(description), std::move(equations), settings_);
  whole_->enter(subsystems_.smooth_interval());
  whole_->start(first, stop);
  put_out(point);
}

void MonolithicCoupling::restart(CommunicationPoint& point) {
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
  time_ = step.end;
  if (whole_->advance(step, {}, continuity, Wanted::values_and_derivatives, trial.outputs) !=
      Outcome::ok) {
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

PointEvaluation* MonolithicCoupling::evaluation() {
  equations_->stand_at(time_, whole_->states());
  return equations_;
}

std::string MonolithicCoupling::explain(const CouplingReport& /*report*/) {
  return whole_->failure();
}

}  // namespace concord

#include "coupling/implicit/monolithic_coupling.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/points/input_elimination.hpp"
#include "coupling/points/start.hpp"
#include "subsystem/event_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/agreement.hpp"
#include "support/exception_words.hpp"

namespace concord {

/// x' = f(t, x, P y), y = g(t, x, P y) of the whole network, whose subsystems have been started:
/// states and outputs of all subsystems one after the other, no inputs. Unknowns of direct
/// constraints (index 1) are eliminated with the inputs; what stands for a constraint has no states
/// and is the same at any time.
class MonolithicCoupling::NetworkEquations : public EventModel, public PointEvaluation {
 public:
  explicit NetworkEquations(RankNetwork& subsystems)
      : subsystems_(subsystems),
        consistent_(subsystems),
        elimination_(subsystems),
        inputs_(subsystems.start_inputs()),
        outputs_(subsystems.n_outputs()),
        input_values_(subsystems.n_inputs()),
        output_values_(subsystems.n_outputs()),
        input_slopes_(subsystems.n_inputs()),
        output_slopes_(subsystems.n_outputs()),
        own_(subsystems.n_own()) {
    for (std::size_t k = 0; k < own_.size(); ++k) {
      own_[k].resize(subsystems.states_of(k).size(), subsystems.inputs_of(k).size(),
                     subsystems.outputs_of(k).size());
      of_outputs_.push_back({own_[k].g_x, own_[k].g_u});
      auto* const events = dynamic_cast<EventModel*>(subsystems.own(k).equations());
      if (events != nullptr && events->has_events()) {
        events_.push_back({k, events, indicator_count_});
        indicator_count_ += events->indicator_count();
      }
    }
  }

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
          whole.time_dependent ||
          (!stands_for_constraint(k) && subsystems_.own(k).equations()->interface().time_dependent);
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

  /// f_x = A + B du/dx and g_x = C + D du/dx, du/dx that of the eliminated inputs. False where a
  /// subsystem has no Jacobians.
  bool jacobians(double t, std::span<const double> x, std::span<const double>,
                 const Jacobians& result) override {
    eliminate_inputs(t, x);
    for (std::size_t k = 0; k < own_.size(); ++k) {
      if (!derive(k)) {
        return false;
      }
    }
    if (!elimination_.take(of_outputs_)) {
      return false;
    }
    for (std::size_t k = 0; k < own_.size(); ++k) {
      for (std::size_t j = 0; j < subsystems_.states_of(k).size(); ++j) {
        elimination_.follow(of_outputs_, k, j, input_slopes_);
        fill_column(k, j, result);
      }
    }
    return true;
  }

  /// y' = g_t + g_x f + g_u u' with u' = P y'. False where a subsystem doesn't give its part.
  bool output_slopes(double t, std::span<const double> x, std::span<const double>,
                     const Motion& motion, std::span<double> dydt) override {
    stand_at(t, x);
    dxdt_ = motion.dxdt;
    slopes_given_ = true;
    const Outcome outcome =
        consistent_.solve(*this, Wanted::values_and_derivatives, inputs_, outputs_);
    for (std::size_t i = 0; i < dydt.size(); ++i) {
      dydt[i] = outputs_[i].derivative;
    }
    return slopes_given_ && outcome == Outcome::ok;
  }

  bool has_events() const override { return !events_.empty(); }
  std::size_t indicator_count() const override { return indicator_count_; }

  void indicators(double t, std::span<const double> x, std::span<const double>,
                  std::span<Indicator> z) override {
    eliminate_inputs(t, x);
    for (const auto& [k, model, first] : events_) {
      model->indicators(t, states_of(k, x), inputs_of(k),
                        z.subspan(first, model->indicator_count()));
    }
  }

  void indicator_slopes(double t, std::span<const double> x, std::span<const double>,
                        const Motion& motion, std::span<double> slopes) override {
    move_inputs(t, x, motion);
    for (const auto& [k, model, first] : events_) {
      model->indicator_slopes(t, states_of(k, x), inputs_of(k), motion_of(k),
                              slopes.subspan(first, model->indicator_count()));
    }
  }

  double next_time_event() const override {
    double earliest = std::numeric_limits<double>::infinity();
    for (const auto& [k, model, first] : events_) {
      earliest = std::min(earliest, model->next_time_event());
    }
    return earliest;
  }

  /// The subsystems have begun.
  void begin(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/) override {}

  bool settle(const EventPoint& point, std::span<const double> x) override {
    move_inputs(point.t, x, point.motion);
    bool changed = false;
    for (const auto& [k, model, first] : events_) {
      changed = model->settle(point_of(k, point, first), states_of(k, x)) || changed;
    }
    return changed;
  }

  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override {
    move_inputs(point.t, x, point.motion);
    bool changed = false;
    std::vector<Happening> own;
    for (const auto& [k, model, first] : events_) {
      const IndexRange states = subsystems_.states_of(k);
      own.clear();
      changed =
          model->happen(point_of(k, point, first), x.subspan(states.first, states.size()), own) ||
          changed;
      for (Happening& one : own) {
        what.push_back({k, std::move(one.what)});
      }
    }
    return changed;
  }

  /// The subsystems' own, which pass it on themselves.
  void pass_events(Archive& /*archive*/) override {}
  void take_over(Archive& /*archive*/) override {}

  void io(Archive& archive) { archive(inputs_, outputs_, consistent_); }

  /// Inputs that nothing feeds are these from now on.
  void take_inputs(std::span<const Sample> inputs) {
    std::copy(inputs.begin(), inputs.end(), inputs_.begin());
  }

  /// Where the outputs are evaluated from now on.
  void stand_at(double t, std::span<const double> x) {
    t_ = t;
    x_ = x;
  }

 private:
  struct Events {
    std::size_t subsystem;
    EventModel* model;
    std::size_t first;  ///< of its indicators
  };

  std::span<const double> states_of(std::size_t k, std::span<const double> x) const {
    const IndexRange states = subsystems_.states_of(k);
    return x.subspan(states.first, states.size());
  }

  /// Eliminated inputs with their slopes.
  void move_inputs(double t, std::span<const double> x, const Motion& motion) {
    stand_at(t, x);
    dxdt_ = motion.dxdt;
    slopes_given_ = true;
    if (consistent_.solve(*this, Wanted::values_and_derivatives, inputs_, outputs_) !=
        Outcome::ok) {
      throw RecoverableFailure(consistent_.failure());
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      input_values_[i] = inputs_[i].value;
      input_slopes_[i] = inputs_[i].derivative;
    }
  }

  /// After move_inputs.
  Motion motion_of(std::size_t k) const {
    const IndexRange in = subsystems_.inputs_of(k);
    return {states_of(k, dxdt_), std::span(input_slopes_).subspan(in.first, in.size())};
  }

  EventPoint point_of(std::size_t k, const EventPoint& point, std::size_t first) const {
    EventPoint result{point.t, inputs_of(k), motion_of(k), point.slack};
    if (point.certain && *point.certain >= first) {
      result.certain = *point.certain - first;
    }
    return result;
  }

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

  /// All of one subsystem's, row-major.
  struct Derivatives {
    std::vector<double> f_x, f_u, g_x, g_u;
    void resize(std::size_t n_st, std::size_t n_in, std::size_t n_out) {
      f_x.resize(n_st * n_st);
      f_u.resize(n_st * n_in);
      g_x.resize(n_out * n_st);
      g_u.resize(n_out * n_in);
    }
  };

  bool derive(std::size_t k) {
    Derivatives& own = own_[k];
    if (stands_for_constraint(k)) {
      return subsystems_.feedthrough(k, inputs_, own.g_u);
    }
    const IndexRange states = subsystems_.states_of(k);
    return subsystems_.own(k).equations()->jacobians(t_, x_.subspan(states.first, states.size()),
                                                     inputs_of(k),
                                                     {own.f_x, own.f_u, own.g_x, own.g_u});
  }

  /// Of state j of subsystem k, with input_slopes_.
  void fill_column(std::size_t k, std::size_t j, const Jacobians& result) {
    const std::size_t n_st = x_.size(), column = subsystems_.states_of(k).first + j;
    for (std::size_t l = 0; l < own_.size(); ++l) {
      const Derivatives& own = own_[l];
      const IndexRange states = subsystems_.states_of(l), outputs = subsystems_.outputs_of(l);
      const IndexRange in = subsystems_.inputs_of(l);
      const auto entry = [&](std::span<const double> by_x, std::span<const double> by_u,
                             std::size_t row) {
        double sum = l == k ? by_x[row * states.size() + j] : 0.0;
        for (std::size_t i = 0; i < in.size(); ++i) {
          sum += by_u[row * in.size() + i] * input_slopes_[in.first + i];
        }
        return sum;
      };
      for (std::size_t row = 0; row < states.size(); ++row) {
        result.f_x[(states.first + row) * n_st + column] = entry(own.f_x, own.f_u, row);
      }
      for (std::size_t row = 0; row < outputs.size(); ++row) {
        result.g_x[(outputs.first + row) * n_st + column] = entry(own.g_x, own.g_u, row);
      }
    }
  }

  bool stands_for_constraint(std::size_t k) const {
    return subsystems_.own(k).description().constraint.has_value();
  }

  std::span<const double> inputs_of(std::size_t k) const {
    const IndexRange range = subsystems_.inputs_of(k);
    return std::span(input_values_).subspan(range.first, range.size());
  }

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override {
    if (stands_for_constraint(k)) {
      return subsystems_.point_outputs(k, inputs, wanted, outputs);
    }
    const IndexRange in = subsystems_.inputs_of(k);
    const IndexRange out = subsystems_.outputs_of(k);
    const IndexRange states = subsystems_.states_of(k);
    for (std::size_t i = in.first; i < in.last; ++i) {
      input_values_[i] = inputs[i].value;
      input_slopes_[i] = inputs[i].derivative;
    }
    const auto y = std::span(output_values_).subspan(out.first, out.size());
    const auto dydt = std::span(output_slopes_).subspan(out.first, out.size());
    std::fill(dydt.begin(), dydt.end(), 0.0);
    try {
      naming(k, [&](OdeModel& equations) {
        const auto x = x_.subspan(states.first, states.size());
        equations.outputs(t_, x, inputs_of(k), y);
        if (wanted == Wanted::values_and_derivatives) {
          const Motion motion{dxdt_.subspan(states.first, states.size()),
                              std::span(input_slopes_).subspan(in.first, in.size())};
          slopes_given_ =
              equations.output_slopes(t_, x, inputs_of(k), motion, dydt) && slopes_given_;
        }
      });
    } catch (const RecoverableFailure&) {
      return Outcome::failed;
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      outputs[out.first + i] = {y[i], dydt[i]};
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
  InputElimination elimination_;
  double t_ = 0.0;
  std::span<const double> x_, dxdt_;
  bool slopes_given_ = false;
  std::vector<Sample> inputs_, outputs_;
  std::vector<double> input_values_, output_values_, input_slopes_, output_slopes_, jacobians_;
  std::vector<Derivatives> own_;  ///< per subsystem
  std::vector<Events> events_;    ///< of those that have some
  std::size_t indicator_count_ = 0;
  std::vector<InputElimination::OutputDerivatives> of_outputs_;  ///< of own_
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
  archive(first_, stop_, time_, next_);
  if (archive.reading()) {
    make_whole();
  }
  archive(*equations_);
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
  equations_->stand_at(time_, whole_->states());
  return equations_;
}

std::string MonolithicCoupling::explain(const CouplingReport& /*report*/) {
  return whole_->failure();
}

}  // namespace concord

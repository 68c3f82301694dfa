#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/fmu_texts.hpp"
#include "subsystem/fmu/passed_state.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/tunable_parameters.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The inputs that may be set at any time, or those that only events may change.
struct InputGroup {
  FmuPorts ports;
  std::vector<char> whole;             ///< of all inputs: those whose values are whole numbers
  std::vector<double> values, wanted;  ///< of all inputs: what the FMU has, and is to have

  /// Whether what the FMU is to have differs from what it has.
  bool differs(std::span<const double> u) {
    bool any = false;
    for (const std::size_t i : ports.places()) {
      wanted[i] = whole[i] != 0 ? std::nearbyint(u[i]) : u[i];
      any = any || wanted[i] != values[i];
    }
    return any;
  }
};

/// An FMU whose equations Concord integrates.
///
/// It stays in continuous-time mode but for the events. Discard asks for a smaller step; an error
/// ends the run. Its members are one state: what the instance has been told last, and must be told
/// next.
class FmuModel final : public HybridModel, private TextPorts {
 public:
  FmuModel(std::shared_ptr<const FmuSetup> setup, const FmuUse& use, double tolerance);

  OdeInterface interface() const override {
    const SubsystemDescription& d = setup_->description;
    return {d.inputs, d.states, d.outputs, d.feedthrough, true, false, d.parameters};
  }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;
  bool time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                        const TimeDerivatives& result) override;

  void note_use(std::span<const char> fed) override;
  void begin_initialization(double t, double stop) override;
  bool initializing() const override { return instance_->mode() == FmuMode::initializing; }
  void end_initialization(std::span<const double> u, std::span<double> x) override;
  std::size_t indicator_count() const override { return setup_->model->event_indicators; }

  /// Nothing else than an event brings a new time event.
  bool has_events() const override {
    return indicator_count() > 0 || std::isfinite(next_.time) || use_.completed_step ||
           !discrete_.ports.empty() || texts_.any_inputs() || !clocks_.empty();
  }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<double> z) override {
    go_to(t, x, u);
    require(instance_->get_event_indicators(z));
  }
  bool input_event(std::span<const double> u) override;
  double next_time_event() const override { return next_.time; }
  bool wants_completed_steps() const override { return use_.completed_step; }
  bool takes_back_completed_steps() const override { return use_.state; }
  SmoothInterval reachable() const override { return {next_.since, std::min(next_.time, stop_)}; }
  bool completed_step(double t, std::span<const double> x, std::span<const double> u) override;
  void handle_event(double t, std::span<double> x, std::span<const double> u) override;
  void handle_accepted_event(double t, double from, std::span<double> x,
                             std::span<const double> u) override {
    run_event(t, x, u);
    next_.early = next_.since - from;
  }
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override {
    return parameters_.value(parameter);
  }
  void change_parameters(double t, std::span<double> x, std::span<const double> u) override {
    run_event(t, x, u);
  }
  TextPorts* texts() override { return setup_->texts ? this : nullptr; }
  void save() override;
  void restore() override;
  std::optional<std::string> io(Archive& archive) override;
  int memory_version() const override { return 5; }

 private:
  /// The last event or completed step and the next time event, the inputs that events have set, and
  /// the clocks.
  struct Between {
    double since = -infinity, time = infinity;
    double early = 0.0;  ///< what lies no further before `since` counts as it
    std::vector<double> discrete;
    bool texts_due = false;  ///< to be set in the next event
    ClockMemory clocks;

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, since, time, early, discrete, texts_due, clocks);
    }
  };

  void put_out(std::span<Texts> texts) override;
  void take(std::span<const Texts> texts) override;
  void require(bool good) const {
    if (good) [[likely]]
      return;
    if (instance_->last_was_discard()) throw RecoverableFailure(instance_->failure());
    throw SimulationError(instance_->failure() + instance_->when());
  }
  std::string fmu() const { return "the FMU " + setup_->request.path.string(); }
  [[noreturn]] void ended() const {
    throw EndOfSimulation(fmu() + " ended the simulation (terminateSimulation)" +
                          instance_->when());
  }
  /// Saving or restoring has failed, which the next evaluation reports.
  void note_lost() { lost_ = instance_->failure() + instance_->when(); }
  double confined(double t) const;
  void go_to(double t, std::span<const double> x, std::span<const double> u);
  void forget_point() { t_ = std::numeric_limits<double>::quiet_NaN(); }
  void set_inputs(std::span<const double> u);
  void run_event(double t, std::span<double> x, std::span<const double> u);
  void begin_anew(double t, const EventOutcome& outcome, std::span<double> x);
  std::string differing(double t, std::span<const double> x, std::span<const double> u,
                        const Jacobians& by);
  template <class Variable>
  void check_finite(std::span<const double> values, const SharedList<Variable>& variables,
                    const char* what) const;

  std::shared_ptr<const FmuSetup> setup_;
  FmuUse use_;
  double tolerance_;
  std::unique_ptr<FmuInstance> instance_;
  std::optional<FmuSnapshot> saved_;  ///< freed before the instance
  InputGroup continuous_, discrete_;
  FmuPorts outputs_;
  FmuClocks clocks_;
  FmuPorts time_;  ///< where the FMU names it among what outputs or derivatives depend on
  TunableParameters parameters_;
  FmuTexts texts_;
  bool parameters_due_ = false;  ///< to be set in the next event
  Between next_, saved_next_;
  double start_ = 0.0, stop_ = infinity;
  bool redo_possible_ = false;
  bool compared_ = false;  ///< directional derivatives with differences
  std::string lost_;
  double t_ = std::numeric_limits<double>::quiet_NaN();  ///< where the FMU stands
  std::vector<double> x_;
};

/// The independent variable, where outputs or derivatives are said to depend on it; else none.
std::vector<const FmiVariable*> times_named(const ModelDescription& model) {
  for (const auto* unknowns : {&model.outputs, &model.derivatives})
    for (const FmiUnknown& unknown : *unknowns)
      for (const std::size_t i : unknown.dependencies.value_or(std::vector<std::size_t>()))
        if (model.variables[i].causality == FmiCausality::independent) return {&model.variables[i]};
  return {};
}

FmuModel::FmuModel(std::shared_ptr<const FmuSetup> setup, const FmuUse& use, double tolerance)
    : setup_(std::move(setup)),
      use_(use),
      tolerance_(tolerance),
      instance_(FmuInstance::make(setup_->source(use_))),
      outputs_(setup_->ports(setup_->output_variables)),
      clocks_(clocked_variables(*setup_)),
      time_(setup_->ports(times_named(*setup_->model))),
      parameters_(*setup_),
      texts_(*setup_),
      x_(setup_->description.states.size()) {
  for (InputGroup* group : {&continuous_, &discrete_}) {
    for (const FmiVariable* input : setup_->input_variables)
      group->whole.insert(group->whole.end(), input->size, takes_whole_numbers(*input) ? 1 : 0);
    for (const InputVariable& input : setup_->description.inputs)
      group->values.push_back(input.start.value_or(0.0));
    group->wanted = group->values;
  }
  next_.clocks = clocks_.memory();
  note_use({});
}

void FmuModel::note_use(std::span<const char> fed) {
  const auto& inputs = setup_->input_variables;
  continuous_.ports = setup_->ports(inputs, fed, SignalKind::continuous);
  discrete_.ports = setup_->ports(inputs, fed, SignalKind::held);
  clocks_.note_use(fed);
}

void FmuModel::begin_initialization(double t, double stop) {
  start_ = t;
  stop_ = stop;
  require(concord::begin_initialization(*setup_, *instance_, t, stop, tolerance_) &&
          parameters_.set(*instance_));
}

/// In initialisation mode, where every input may be set.
void FmuModel::set_inputs(std::span<const double> u) {
  for (InputGroup* group : {&continuous_, &discrete_}) {
    group->differs(u);
    require(instance_->set(group->ports, group->wanted));
    group->values = group->wanted;
  }
  require(clocks_.set_inputs(*instance_, u));
}

void FmuModel::end_initialization(std::span<const double> u, std::span<double> x) {
  set_inputs(u);
  require(clocks_.read_outputs(*instance_, next_.clocks));
  EventOutcome outcome;
  const Ticking ticking{clocks_, next_.clocks, start_, u};
  require(concord::end_initialization(*setup_, *instance_, outcome,
                                      clocks_.empty() ? nullptr : &ticking));
  begin_anew(start_, outcome, x);
}

/// After the events at t.
void FmuModel::begin_anew(double t, const EventOutcome& outcome, std::span<double> x) {
  if (outcome.terminate) ended();
  next_.since = t;
  next_.early = 0.0;
  next_.time = outcome.next_time;
  require(instance_->get_states(x));
  forget_point();
}

/// t, or the event beside it that nothing but rounding, or what counts as it, separates from it.
double FmuModel::confined(double t) const {
  const SmoothInterval reachable = this->reachable();
  if (t > reachable.from && t < reachable.until) [[likely]]
    return t;
  const double end = t <= reachable.from ? reachable.from : reachable.until;
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  const double largest = std::max(std::abs(start_), std::abs(stop_));
  const double near = rounding * largest + (end == next_.since ? next_.early : 0.0);
  if (t == end || std::abs(t - end) <= near) return end;
  throw RecoverableFailure("evaluated beyond an event of " + fmu());
}

void FmuModel::go_to(double t, std::span<const double> x, std::span<const double> u) {
  if (!lost_.empty()) throw SimulationError(lost_);
  t = confined(t);
  const bool known = t_ == t_;
  if (t != t_) require(instance_->set_time(t));
  if (!known || !std::equal(x.begin(), x.end(), x_.begin())) require(instance_->set_states(x));
  if (continuous_.differs(u) || !known) {
    require(instance_->set(continuous_.ports, continuous_.wanted));
    continuous_.values = continuous_.wanted;
  }
  t_ = t;
  std::copy(x.begin(), x.end(), x_.begin());
}

template <class Variable>
void FmuModel::check_finite(std::span<const double> values, const SharedList<Variable>& variables,
                            const char* what) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) [[unlikely]]
      throw RecoverableFailure(what + in_quotes(variables[i].name) + " that " + fmu() +
                               " gives is " + short_number(values[i]));
}

void FmuModel::derivatives(double t, std::span<const double> x, std::span<const double> u,
                           std::span<double> dxdt) {
  go_to(t, x, u);
  require(instance_->get_derivatives(dxdt));
  check_finite(dxdt, setup_->description.states, "the derivative of state ");
}

void FmuModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                       std::span<double> y) {
  if (initializing()) {
    set_inputs(u);
    require(clocks_.read_outputs(*instance_, next_.clocks));
  } else {
    go_to(t, x, u);
  }
  require(instance_->get(outputs_, y));
  clocks_.give(next_.clocks, y);
  check_finite(y, setup_->description.outputs, "output ");
}

/// Inputs that only events may change have columns of zeros, outputs that are no continuous reals
/// rows of zeros. An FMU that refuses is not asked again: differences are used.
bool FmuModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                         const Jacobians& result) {
  if (!use_.directional) return false;
  go_to(t, x, u);
  const std::size_t n_st = x.size(), n_in = u.size(), n_out = setup_->description.outputs.size();
  const FmuPorts &states = setup_->states, &slopes = setup_->derivatives;
  const FmuPorts& inputs = continuous_.ports;
  if (instance_->partial(slopes, n_st, states, n_st, result.f_x) &&
      instance_->partial(slopes, n_st, inputs, n_in, result.f_u) &&
      instance_->partial(outputs_, n_out, states, n_st, result.g_x) &&
      instance_->partial(outputs_, n_out, inputs, n_in, result.g_u)) {
    if (std::exchange(compared_, true)) return true;
    const std::string wrong = differing(t, x, u, result);
    if (wrong.empty()) return true;
    tell(*setup_, "its directional derivatives are wrong: " + wrong + instance_->when() +
                      "; differences take their place");
  } else {
    tell(*setup_, instance_->failure() + instance_->when() +
                      "; differences take the place of its directional derivatives");
  }
  use_.directional = false;
  return false;
}

/// An FMU that names the time among what something depends on has derivatives by it.
bool FmuModel::time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                                const TimeDerivatives& result) {
  if (!use_.directional || time_.reals().empty()) return false;
  go_to(t, x, u);
  if (instance_->partial(setup_->derivatives, x.size(), time_, 1, result.f_t) &&
      instance_->partial(outputs_, result.g_t.size(), time_, 1, result.g_t))
    return true;
  tell(*setup_, instance_->failure() + instance_->when() +
                    "; differences take the place of its derivatives by the time");
  time_ = {};
  return false;
}

/// What changes otherwise than directional derivatives say where all states and inputs are moved a
/// little; nothing where none does, or where it bends or breaks within that.
std::string FmuModel::differing(double t, std::span<const double> x, std::span<const double> u,
                                const Jacobians& by) {
  constexpr double share = 1e-6, bent = 1e-3, wrong = 1e-2, rounding = 1e-12;
  const std::size_t n_st = x.size(), n_in = u.size(), n_out = setup_->description.outputs.size();
  const auto moved = [&](std::span<const double> from, std::span<const std::size_t> places,
                         double sign) {
    std::vector<double> result(from.begin(), from.end());
    for (const std::size_t j : places)
      result[j] += sign * share * (1.0 + 0.5 * std::sin(static_cast<double>(j * j))) *
                   std::max(std::abs(from[j]), 1.0);
    return result;
  };
  std::vector<std::size_t> all(n_st);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto evaluate = [&](double sign, std::vector<double>& dx, std::vector<double>& du) {
    dx = moved(x, all, sign);
    du = moved(u, continuous_.ports.places(), sign);
    std::vector<double> values(n_st + n_out);
    derivatives(t, dx, du, std::span(values).first(n_st));
    outputs(t, dx, du, std::span(values).last(n_out));
    return values;
  };
  std::vector<double> dx, du, here, below, above;
  try {
    here = evaluate(0.0, dx, du);
    below = evaluate(-1.0, dx, du);
    above = evaluate(1.0, dx, du);
  } catch (const RecoverableFailure&) {
    return "";
  }
  for (std::size_t i = 0; i < n_st + n_out; ++i) {
    const bool slope = i < n_st;
    const std::size_t row = slope ? i : i - n_st;
    const auto by_x = (slope ? by.f_x : by.g_x).subspan(row * n_st, n_st);
    const auto by_u = (slope ? by.f_u : by.g_u).subspan(row * n_in, n_in);
    double told = 0.0, size = 0.0;
    const auto add = [&](double change) { told += change, size += std::abs(change); };
    for (std::size_t j = 0; j < n_st; ++j) add(by_x[j] * (dx[j] - x[j]));
    for (std::size_t j = 0; j < n_in; ++j) add(by_u[j] * (du[j] - u[j]));
    const double up = above[i] - here[i], down = here[i] - below[i];
    size += std::abs(up) + std::abs(down);
    const bool says_nothing = !(std::abs(up - down) <= bent * size);
    if (says_nothing ||
        std::abs(up + down - 2.0 * told) <= wrong * size + rounding * std::abs(here[i]))
      continue;
    const auto& d = setup_->description;
    return (slope ? "the derivative of state " + in_quotes(d.states[row].name)
                  : "output " + in_quotes(d.outputs[row].name)) +
           " changes by " + short_number(0.5 * (up + down)) + " where they say " +
           short_number(told);
  }
  return "";
}

bool FmuModel::input_event(std::span<const double> u) {
  return (!discrete_.ports.empty() && discrete_.differs(u)) || next_.texts_due ||
         clocks_.called(u, next_.clocks);
}

bool FmuModel::completed_step(double t, std::span<const double> x, std::span<const double> u) {
  if (!use_.completed_step) return false;
  go_to(t, x, u);
  bool event = false, terminate = false;
  require(instance_->completed_step(!redo_possible_ || !use_.state, event, terminate));
  if (terminate) ended();
  next_.since = t_;
  return event;
}

void FmuModel::handle_event(double t, std::span<double> x, std::span<const double> u) {
  if (redo_possible_ && !use_.state)
    throw SimulationError(fmu() + " has an event" + instance_->when() +
                          ", but cannot restore its state (" + missing_states(*setup_) +
                          "), which methods that repeat macro-steps need; withhold the capability "
                          "(-subsystem_" +
                          setup_->request.subsystem +
                          "_rollback false) or choose an explicit method");
  run_event(t, x, u);
}

void FmuModel::run_event(double t, std::span<double> x, std::span<const double> u) {
  go_to(t, x, u);
  require(instance_->enter_event_mode());
  if (discrete_.wanted != discrete_.values) {
    require(instance_->set(discrete_.ports, discrete_.wanted));
    discrete_.values = discrete_.wanted;
  }
  if (std::exchange(parameters_due_, false)) require(parameters_.set(*instance_));
  if (std::exchange(next_.texts_due, false)) require(texts_.set(*instance_));
  EventOutcome outcome;
  const Ticking ticking{clocks_, next_.clocks, t_, u};
  require(iterate_events(*instance_, outcome, clocks_.empty() ? nullptr : &ticking));
  begin_anew(t_, outcome, x);
}

/// In continuous-time mode nothing but an event may change them, which `change_parameters` is.
bool FmuModel::set_parameter(std::size_t parameter, double value) {
  std::string reason;
  if (!parameters_.take(parameter, value, reason)) throw RecoverableFailure(reason);
  if (initializing())
    require(parameters_.set(*instance_));
  else
    parameters_due_ = instance_->mode() != FmuMode::instantiated;
  return true;
}

void FmuModel::put_out(std::span<Texts> texts) {
  require(texts_.put_out(*instance_, next_.clocks, texts));
}

void FmuModel::take(std::span<const Texts> texts) {
  if (initializing()) {
    texts_.take(texts, next_.clocks);
    require(texts_.set(*instance_));
  } else {
    next_.texts_due = texts_.take(texts, next_.clocks) || next_.texts_due;
  }
}

/// The inputs are set anew at the first evaluation.
std::optional<std::string> FmuModel::io(Archive& archive) {
  if (auto reason = refusal_to_pass_state(*setup_, use_)) return reason;
  if (auto reason = pass_state(*instance_, archive)) return reason;
  next_.discrete = discrete_.values;
  CONCORD_MEMBERS(archive, next_, parameters_, parameters_due_, texts_, discrete_.wanted,
                  use_.directional, compared_);
  discrete_.values = next_.discrete;
  forget_point();
  return std::nullopt;
}

void FmuModel::save() {
  redo_possible_ = true;
  saved_next_ = next_;
  saved_next_.discrete = discrete_.values;
  if (!use_.state) return;
  if (!saved_) saved_.emplace(*instance_);
  if (!instance_->save(*saved_)) note_lost();
}

void FmuModel::restore() {
  next_ = saved_next_;
  discrete_.values = discrete_.wanted = saved_next_.discrete;
  if (use_.state && !instance_->restore(*saved_)) note_lost();
  forget_point();
}

}  // namespace

std::unique_ptr<HybridModel> make_model_exchange(std::shared_ptr<const FmuSetup> setup,
                                                 const FmuUse& use, double tolerance) {
  return std::make_unique<FmuModel>(std::move(setup), use, tolerance);
}

}  // namespace concord

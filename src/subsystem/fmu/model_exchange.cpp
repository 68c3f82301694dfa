#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The inputs that may be set at any time, or those that only events may change: where they are
/// among all inputs, and what the FMU has.
struct InputGroup {
  FmuPorts ports;
  std::vector<std::size_t> places;
  std::vector<bool> real;
  std::vector<double> values, wanted;

  void add(const FmiVariable& variable, std::size_t first) {
    ports.add(variable);
    const bool is_real = variable.type == FmiType::float64 || variable.type == FmiType::float32;
    real.resize(places.size() + variable.size, is_real);
    for (std::size_t i = 0; i < variable.size; ++i) places.push_back(first + i);
    values.resize(places.size());
    wanted.resize(places.size());
  }

  /// Whether the entries of u differ from what the FMU has; they are kept in `wanted`.
  bool differs(std::span<const double> u) {
    for (std::size_t i = 0; i < places.size(); ++i)
      wanted[i] = real[i] ? u[places[i]] : std::nearbyint(u[places[i]]);
    return wanted != values;
  }
};

/// An FMU of FMI 2 or 3 whose equations Concord integrates.
///
/// It stays in continuous-time mode but for the events. Discard asks for a smaller step; an error
/// ends the run.
class FmuModel final : public HybridModel {
 public:
  FmuModel(std::shared_ptr<const FmuSetup> setup, double tolerance);
  ~FmuModel() override { instance_->free_state(saved_); }

  OdeInterface interface() const override {
    const SubsystemDescription& d = setup_->description;
    return {d.inputs, d.states, d.outputs, d.feedthrough};
  }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;

  void initialize(double t, double stop, std::span<double> x) override;
  std::size_t indicator_count() const override { return setup_->model->event_indicators; }

  /// Nothing else than an event brings a new time event.
  bool has_events() const override {
    return indicator_count() > 0 || std::isfinite(next_.time) || interface_.completed_step ||
           !discrete_.places.empty();
  }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<double> z) override {
    go_to(t, x, u);
    require(instance_->get_event_indicators(z));
  }
  bool input_event(std::span<const double> u) override;
  double next_time_event() const override { return next_.time; }
  bool completed_step(double t, std::span<const double> x, std::span<const double> u) override;
  void handle_event(double t, std::span<double> x, std::span<const double> u) override;
  void save() override;
  void restore() override;

 private:
  /// The last event and the next time event, and the inputs that events have set.
  struct Between {
    double since = -infinity, time = infinity;
    std::vector<double> discrete;
  };

  void require(bool good) const {
    if (good) [[likely]]
      return;
    if (instance_->last_was_discard()) throw RecoverableFailure(instance_->failure());
    throw SimulationError(instance_->failure() + instance_->when());
  }
  std::string fmu() const { return "the FMU " + setup_->request.path.string(); }
  [[noreturn]] void ended() const {
    throw SimulationError(fmu() + " ended the simulation (terminateSimulation)" +
                          instance_->when());
  }
  /// Saving or restoring has failed, which the next evaluation reports.
  void note_lost() { lost_ = instance_->failure() + instance_->when(); }
  double confined(double t) const;
  void go_to(double t, std::span<const double> x, std::span<const double> u);
  void forget_point() { t_ = std::numeric_limits<double>::quiet_NaN(); }
  void iterate_events(double t, std::span<double> x);
  bool all_scalar() const;
  bool partial(std::span<const FmiReference> unknowns, std::span<const FmiReference> knowns,
               std::span<const std::size_t> places, std::size_t columns, std::span<double> result);
  template <class Variable>
  void check_finite(std::span<const double> values, const std::vector<Variable>& variables,
                    const char* what) const;

  std::shared_ptr<const FmuSetup> setup_;
  double tolerance_;
  const FmiInterface& interface_;
  std::unique_ptr<FmuInstance> instance_;
  InputGroup continuous_, discrete_;
  std::vector<std::size_t> state_places_;
  Between next_, saved_next_;
  bool redo_possible_ = false;
  std::string lost_;
  void* saved_ = nullptr;
  double t_ = std::numeric_limits<double>::quiet_NaN();  ///< where the FMU stands
  std::vector<double> x_, column_;
};

FmuModel::FmuModel(std::shared_ptr<const FmuSetup> setup, double tolerance)
    : setup_(std::move(setup)),
      tolerance_(tolerance),
      interface_(setup_->interface()),
      instance_(FmuInstance::make(setup_->source())),
      x_(setup_->states.size()) {
  std::size_t first = 0;
  for (const FmiVariable* input : setup_->input_variables) {
    (is_discrete(*input) ? discrete_ : continuous_).add(*input, first);
    first += input->size;
  }
  for (std::size_t i = 0; i < x_.size(); ++i) state_places_.push_back(i);
}

void FmuModel::initialize(double t, double stop, std::span<double> x) {
  for (InputGroup* group : {&continuous_, &discrete_})
    for (std::size_t i = 0; i < group->places.size(); ++i)
      group->values[i] = setup_->description.inputs[group->places[i]].start.value_or(0.0);
  require(begin_initialization(*setup_, *instance_, t, stop, tolerance_) &&
          instance_->set(continuous_.ports, continuous_.values) &&
          instance_->set(discrete_.ports, discrete_.values) && instance_->leave_initialization());
  iterate_events(t, x);
}

/// From event mode to continuous-time mode.
void FmuModel::iterate_events(double t, std::span<double> x) {
  EventOutcome outcome{};
  require(instance_->update_discrete_states(outcome));
  if (outcome.terminate) ended();
  next_.since = t;
  next_.time = outcome.next_time;
  require(instance_->enter_continuous_time() && instance_->get_states(x));
  forget_point();
}

/// t, or the event beside it that only rounding separates from it.
double FmuModel::confined(double t) const {
  if (t > next_.since && t < next_.time) [[likely]]
    return t;
  const double event = t <= next_.since ? next_.since : next_.time;
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  if (std::abs(t - event) <= rounding * std::abs(event) || t == event) return event;
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
void FmuModel::check_finite(std::span<const double> values, const std::vector<Variable>& variables,
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
  go_to(t, x, u);
  require(instance_->get(setup_->outputs, y));
  check_finite(y, setup_->description.outputs, "output ");
}

/// result = d unknowns / d knowns, row-major with `columns` columns; those of `knowns` are at
/// `places`.
bool FmuModel::partial(std::span<const FmiReference> unknowns, std::span<const FmiReference> knowns,
                       std::span<const std::size_t> places, std::size_t columns,
                       std::span<double> result) {
  const double seed[] = {1.0};
  const std::size_t rows = unknowns.size();
  column_.resize(rows);
  std::fill(result.begin(), result.end(), 0.0);
  for (std::size_t j = 0; rows > 0 && j < knowns.size(); ++j) {
    if (!instance_->directional_derivative(unknowns, knowns.subspan(j, 1), seed, column_))
      return false;
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + places[j]] = column_[i];
  }
  return true;
}

bool FmuModel::all_scalar() const {
  return continuous_.ports.references().size() == continuous_.places.size() &&
         setup_->outputs.references().size() == setup_->outputs.size() &&
         setup_->states.references().size() == setup_->states.size();
}

/// Inputs that only events may change have columns of zeros.
bool FmuModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                         const Jacobians& result) {
  if (!interface_.directional || !all_scalar() || !setup_->outputs.all_float64()) return false;
  go_to(t, x, u);
  const auto outputs = setup_->outputs.references(), inputs = continuous_.ports.references();
  const auto states = setup_->states.references(), slopes = setup_->derivatives.references();
  const std::size_t n_st = x.size(), n_in = u.size();
  return partial(slopes, states, state_places_, n_st, result.f_x) &&
         partial(slopes, inputs, continuous_.places, n_in, result.f_u) &&
         partial(outputs, states, state_places_, n_st, result.g_x) &&
         partial(outputs, inputs, continuous_.places, n_in, result.g_u);
}

bool FmuModel::input_event(std::span<const double> u) {
  if (discrete_.places.empty()) return false;
  return discrete_.differs(u);
}

bool FmuModel::completed_step(double t, std::span<const double> x, std::span<const double> u) {
  if (!interface_.completed_step) return false;
  go_to(t, x, u);
  bool event = false, terminate = false;
  require(instance_->completed_step(!redo_possible_, event, terminate));
  if (terminate) ended();
  return event;
}

void FmuModel::handle_event(double t, std::span<double> x, std::span<const double> u) {
  if (redo_possible_ && !interface_.state)
    throw SimulationError(fmu() + " has an event" + instance_->when() +
                          ", but cannot restore its state (canGetAndSetFMUState), which methods "
                          "that repeat macro-steps need; withhold the capability "
                          "(-subsystem_" +
                          setup_->request.subsystem +
                          "_rollback false) or choose an explicit method");
  go_to(t, x, u);
  require(instance_->enter_event_mode());
  if (discrete_.wanted != discrete_.values) {
    require(instance_->set(discrete_.ports, discrete_.wanted));
    discrete_.values = discrete_.wanted;
  }
  iterate_events(t_, x);
}

void FmuModel::save() {
  redo_possible_ = true;
  saved_next_ = next_;
  saved_next_.discrete = discrete_.values;
  if (interface_.state && !instance_->get_state(saved_)) note_lost();
}

void FmuModel::restore() {
  next_ = saved_next_;
  discrete_.values = discrete_.wanted = saved_next_.discrete;
  if (interface_.state && !instance_->set_state(saved_)) note_lost();
  forget_point();
}

}  // namespace

std::unique_ptr<Subsystem> make_model_exchange(std::shared_ptr<const FmuSetup> setup,
                                               const SubsystemSettings& settings) {
  SubsystemDescription description = setup->description;
  const double tolerance = chosen_tolerance(*setup, settings);
  return make_ode_subsystem(std::move(description),
                            std::make_unique<FmuModel>(std::move(setup), tolerance), settings);
}

}  // namespace concord

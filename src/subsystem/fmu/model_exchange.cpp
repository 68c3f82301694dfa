#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode_subsystem.hpp"

namespace concord {

namespace {

/// An FMU of FMI 2 or 3 whose equations Concord integrates.
///
/// It stays in continuous-time mode but for the events. Discard asks for a smaller step; an error
/// ends the run.
class FmuModel final : public HybridModel {
 public:
  FmuModel(std::shared_ptr<const FmuSetup> setup, double tolerance)
      : setup_(std::move(setup)),
        tolerance_(tolerance),
        interface_(setup_->interface()),
        instance_(FmuInstance::make(setup_->source())),
        x_(setup_->states.size()),
        u_(setup_->inputs.size()) {}
  ~FmuModel() override { instance_->free_state(saved_); }

  OdeInterface interface() const override {
    const SubsystemDescription& d = setup_->description;
    return {d.inputs, d.states, d.outputs, d.feedthrough};
  }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    go_to(t, x, u);
    require(instance_->get_derivatives(dxdt));
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    go_to(t, x, u);
    require(instance_->get(setup_->outputs, y));
  }
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;

  void initialize(double t, double stop, std::span<double> x) override;
  std::size_t indicator_count() const override { return setup_->model->event_indicators; }

  /// Nothing else than an event brings a new time event. FMI 2 FMUs rarely say that they don't need
  /// completedIntegratorStep: those without events are taken to.
  bool has_events() const override {
    const bool asks = setup_->model->version == FmiVersion::v3 && interface_.completed_step;
    return indicator_count() > 0 || std::isfinite(next_time_) || asks;
  }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<double> z) override {
    go_to(t, x, u);
    require(instance_->get_event_indicators(z));
  }
  double next_time_event() const override { return next_time_; }
  bool completed_step(double t, std::span<const double> x, std::span<const double> u) override;
  void handle_event(double t, std::span<double> x, std::span<const double> u) override;
  void save() override;
  void restore() override;

 private:
  void require(bool good) const {
    if (good) [[likely]]
      return;
    if (instance_->last_was_discard()) throw RecoverableFailure(instance_->failure());
    throw SimulationError(instance_->failure());
  }
  void go_to(double t, std::span<const double> x, std::span<const double> u);
  void forget_point() { t_ = std::numeric_limits<double>::quiet_NaN(); }
  void iterate_events(std::span<double> x);
  bool partial(std::span<const FmiReference> unknowns, std::span<const FmiReference> knowns,
               std::span<double> result);

  std::shared_ptr<const FmuSetup> setup_;
  double tolerance_;
  const FmiInterface& interface_;
  std::unique_ptr<FmuInstance> instance_;
  double next_time_ = std::numeric_limits<double>::infinity();
  double saved_next_time_ = next_time_;
  bool redo_possible_ = false;
  void* saved_ = nullptr;
  double t_ = std::numeric_limits<double>::quiet_NaN();  ///< where the FMU stands
  std::vector<double> x_, u_, column_;
};

void FmuModel::initialize(double t, double stop, std::span<double> x) {
  for (std::size_t i = 0; i < u_.size(); ++i)
    u_[i] = setup_->description.inputs[i].start.value_or(0.0);
  require(begin_initialization(*setup_, *instance_, t, stop, tolerance_) &&
          instance_->set(setup_->inputs, u_) && instance_->leave_initialization());
  iterate_events(x);
}

/// From event mode to continuous-time mode.
void FmuModel::iterate_events(std::span<double> x) {
  EventOutcome outcome{};
  require(instance_->update_discrete_states(outcome));
  if (outcome.terminate) throw SimulationError("the FMU ended the simulation");
  next_time_ = outcome.next_time;
  require(instance_->enter_continuous_time() && instance_->get_states(x));
  forget_point();
}

void FmuModel::go_to(double t, std::span<const double> x, std::span<const double> u) {
  if (t != t_) require(instance_->set_time(t));
  if (t_ != t_ || !std::equal(x.begin(), x.end(), x_.begin())) require(instance_->set_states(x));
  if (t_ != t_ || !std::equal(u.begin(), u.end(), u_.begin()))
    require(instance_->set(setup_->inputs, u));
  t_ = t;
  std::copy(x.begin(), x.end(), x_.begin());
  std::copy(u.begin(), u.end(), u_.begin());
}

bool FmuModel::partial(std::span<const FmiReference> unknowns, std::span<const FmiReference> knowns,
                       std::span<double> result) {
  const double seed[] = {1.0};
  const std::size_t rows = unknowns.size(), columns = knowns.size();
  column_.resize(rows);
  for (std::size_t j = 0; rows > 0 && j < columns; ++j) {
    if (!instance_->directional_derivative(unknowns, knowns.subspan(j, 1), seed, column_))
      return false;
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + j] = column_[i];
  }
  return true;
}

bool FmuModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                         const Jacobians& result) {
  const bool scalars = setup_->inputs.references().size() == setup_->inputs.size() &&
                       setup_->outputs.references().size() == setup_->outputs.size() &&
                       setup_->states.references().size() == setup_->states.size();
  if (!interface_.directional || !scalars || !setup_->outputs.all_float64()) return false;
  go_to(t, x, u);
  const auto inputs = setup_->inputs.references(), outputs = setup_->outputs.references();
  const auto states = setup_->states.references(), slopes = setup_->derivatives.references();
  return partial(slopes, states, result.f_x) && partial(slopes, inputs, result.f_u) &&
         partial(outputs, states, result.g_x) && partial(outputs, inputs, result.g_u);
}

bool FmuModel::completed_step(double t, std::span<const double> x, std::span<const double> u) {
  if (!interface_.completed_step) return false;
  go_to(t, x, u);
  bool event = false, terminate = false;
  require(instance_->completed_step(!redo_possible_, event, terminate));
  if (terminate) throw SimulationError("the FMU ended the simulation");
  return event;
}

void FmuModel::handle_event(double t, std::span<double> x, std::span<const double> u) {
  go_to(t, x, u);
  require(instance_->enter_event_mode());
  iterate_events(x);
}

void FmuModel::save() {
  redo_possible_ = true;
  saved_next_time_ = next_time_;
  if (interface_.state) require(instance_->get_state(saved_));
}

void FmuModel::restore() {
  next_time_ = saved_next_time_;
  if (interface_.state) require(instance_->set_state(saved_));
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

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/fmu_texts.hpp"
#include "subsystem/fmu/passed_state.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/tunable_parameters.hpp"
#include "subsystem/ode/discrete_event_model.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// An FMU whose model partitions Concord runs, each at the ticks of its clock (FMI 3.0.2, 5).
///
/// It has nothing that moves: between ticks outputs stay what they were and nobody calls it. Ticks
/// are time events, or input events where another FMU's clock calls. What has run is not taken
/// back: it runs at communication points that will not be.
class ScheduledModel final : public DiscreteEventModel, private TextPorts {
 public:
  ScheduledModel(std::shared_ptr<const FmuSetup> setup, const FmuUse& use, double tolerance);

  OdeInterface interface() const override {
    const SubsystemDescription& d = setup_->description;
    return {d.inputs, d.states, d.outputs, d.feedthrough, false, true, d.parameters};
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;

  void note_use(std::span<const char> fed) override;
  void begin_initialization(double t, double stop) override;
  bool initializing() const override { return instance_->mode() == FmuMode::initializing; }
  void end_initialization(std::span<const double> u, std::span<double> x) override;
  bool input_event(std::span<const double> u) override { return clocks_.called(u, now_.clocks); }
  double next_time_event() const override { return clocks_.next(now_.clocks); }
  SmoothInterval reachable() const override { return {now_.since, never}; }
  void handle_event(double t, std::span<double> x, std::span<const double> u) override;
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override {
    return parameters_.value(parameter);
  }
  TextPorts* texts() override { return setup_->texts ? this : nullptr; }
  void save() override;
  void restore() override;
  std::optional<std::string> io(Archive& archive) override;
  int memory_version() const override { return 2; }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Between {
    double since = -never;  ///< the last event
    ClockMemory clocks;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, since, clocks); }
  };

  /// It has no state that a smaller step leads to: discard is an error, too.
  void require(bool good) const {
    if (!good) throw SimulationError(instance_->failure() + instance_->when());
  }
  void put_out(std::span<Texts> texts) override {
    require(texts_.put_out(*instance_, now_.clocks, texts));
  }
  void take(std::span<const Texts> texts) override { texts_.take(texts, now_.clocks); }
  void set_inputs(std::span<const double> u) {
    require(instance_->set(inputs_, u) && clocks_.set_inputs(*instance_, u) &&
            texts_.set(*instance_));
  }
  void read_outputs() { require(instance_->get(outputs_, now_.clocks.held)); }
  void run(double t, std::span<const double> u) override;

  std::shared_ptr<const FmuSetup> setup_;
  FmuUse use_;
  double tolerance_;
  std::unique_ptr<FmuInstance> instance_;
  std::optional<FmuSnapshot> saved_state_;  ///< freed before the instance
  FmuPorts inputs_, outputs_;               ///< that no clock is said of
  FmuClocks clocks_;
  TunableParameters parameters_;
  FmuTexts texts_;
  Between now_, saved_;
  double start_ = 0.0;
  bool redo_possible_ = false;
};

ScheduledModel::ScheduledModel(std::shared_ptr<const FmuSetup> setup, const FmuUse& use,
                               double tolerance)
    : setup_(std::move(setup)),
      use_(use),
      tolerance_(tolerance),
      instance_(FmuInstance::make(setup_->source(use_))),
      outputs_(setup_->ports(setup_->output_variables)),
      clocks_(clocked_variables(*setup_)),
      parameters_(*setup_),
      texts_(*setup_) {
  now_.clocks = clocks_.memory();
  note_use({});
}

void ScheduledModel::note_use(std::span<const char> fed) {
  inputs_ = setup_->ports(setup_->input_variables, fed);
  clocks_.note_use(fed);
}

void ScheduledModel::begin_initialization(double t, double stop) {
  start_ = t;
  require(concord::begin_initialization(*setup_, *instance_, t, stop, tolerance_) &&
          parameters_.set(*instance_));
}

void ScheduledModel::outputs(double /*t*/, std::span<const double> /*x*/, std::span<const double> u,
                             std::span<double> y) {
  if (initializing()) {
    set_inputs(u);
    require(clocks_.read_outputs(*instance_, now_.clocks));
    read_outputs();
  }
  std::ranges::copy(now_.clocks.held, y.begin());
}

/// Nothing follows inputs between ticks.
bool ScheduledModel::jacobians(double /*t*/, std::span<const double> /*x*/,
                               std::span<const double> /*u*/, const Jacobians& result) {
  std::ranges::fill(result.g_u, 0.0);
  return true;
}

/// Clocks that tick at the start run their partitions there.
void ScheduledModel::end_initialization(std::span<const double> u, std::span<double> /*x*/) {
  set_inputs(u);
  require(clocks_.read_outputs(*instance_, now_.clocks));
  read_outputs();
  EventOutcome outcome;
  const Ticking ticking{clocks_, now_.clocks, start_, u};
  require(concord::end_initialization(*setup_, *instance_, outcome, &ticking));
  if (next_time_event() <= start_) run(start_, u);
}

void ScheduledModel::handle_event(double t, std::span<double> /*x*/, std::span<const double> u) {
  if (redo_possible_ && !use_.state)
    throw SimulationError(
        "the FMU " + setup_->request.path.string() + " has run model partitions" +
        instance_->when() +
        ", but cannot restore its state (canGetAndSetFMUState), which methods that repeat "
        "macro-steps need; withhold the capability (-subsystem_" +
        setup_->request.subsystem + "_rollback false) or choose an explicit method");
  run(t, u);
}

/// Between a Set and an activation nothing may be read.
void ScheduledModel::run(double t, std::span<const double> u) {
  require(instance_->set(inputs_, u) && texts_.set(*instance_) &&
          clocks_.activate(*instance_, t, u, now_.clocks));
  read_outputs();
  now_.since = t;
}

bool ScheduledModel::set_parameter(std::size_t parameter, double value) {
  std::string reason;
  if (!parameters_.take(parameter, value, reason)) throw RecoverableFailure(reason);
  if (instance_->mode() != FmuMode::instantiated) require(parameters_.set(*instance_));
  return true;
}

std::optional<std::string> ScheduledModel::io(Archive& archive) {
  if (auto reason = refusal_to_pass_state(*setup_, use_)) return reason;
  if (auto reason = pass_state(*instance_, archive)) return reason;
  CONCORD_MEMBERS(archive, now_, parameters_, texts_);
  return std::nullopt;
}

void ScheduledModel::save() {
  redo_possible_ = true;
  saved_ = now_;
  if (!use_.state) return;
  if (!saved_state_) saved_state_.emplace(*instance_);
  require(instance_->save(*saved_state_));
}

void ScheduledModel::restore() {
  if (use_.state) require(instance_->restore(*saved_state_));
  now_ = saved_;
}

}  // namespace

std::unique_ptr<HybridModel> make_scheduled_execution(std::shared_ptr<const FmuSetup> setup,
                                                      const FmuUse& use, double tolerance) {
  return std::make_unique<ScheduledModel>(std::move(setup), use, tolerance);
}

}  // namespace concord

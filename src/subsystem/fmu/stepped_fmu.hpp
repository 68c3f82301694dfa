#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/events_on_the_way.hpp"
#include "subsystem/fmu/fmu_texts.hpp"
#include "subsystem/fmu/input_feed.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/step_pieces.hpp"
#include "subsystem/fmu/tunable_parameters.hpp"
#include "support/wording.hpp"

namespace concord {

/// Where a co-simulation FMU stands, and what of its past is not in its own state.
struct FmuPoint {
  double t = 0.0;
  std::vector<double> x, y;
  std::vector<double> u;  ///< that the FMU has
  double next_event = std::numeric_limits<double>::infinity();
  bool derivatives_set = false;  ///< of inputs, to something else than 0
  bool parameters_due = false;   ///< to be set before the next step
  bool texts_due = false;        ///< the same, of inputs
  bool event_due = false;        ///< the FMU wants event mode here
  double jump_end = 0.0;         ///< where it has none: behind the jump that is due
  ClockMemory clocks;

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, t, x, y, u, next_event, derivatives_set, parameters_due, texts_due,
                    event_due, jump_end, clocks);
  }
};

/// A point to which an FMU can be set back, which the FMU outlives.
struct SavedFmu {
  std::optional<FmuSnapshot> state;
  FmuPoint point;
};

/// A co-simulation FMU, which goes from point to point in steps of its own: what it is fed, the
/// events on its way, what it puts out.
///
/// It stays in initialisation mode, where outputs may be read for any inputs, until the network has
/// found its start values. Afterwards the standard allows no Get after a Set without a step
/// between: outputs are those that were put out, whatever the inputs. Calls that return bool give
/// false, with the reason in `failure`, where the FMU fails.
class SteppedFmu {
 public:
  /// Throws SimulationError.
  SteppedFmu(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings);

  const FmuSetup& setup() const { return *setup_; }
  const FmuPoint& now() const { return now_; }
  const FmuPorts& inputs() const { return feed_.moving(); }
  const FmuPorts& outputs() const { return outputs_; }
  double start_time() const { return start_; }
  double stop_time() const { return stop_; }
  const EventsOnTheWay& events() const { return events_; }
  /// How it is used, by who learns that it must be otherwise.
  FmuUse& use() { return use_; }
  const FmuUse& use() const { return use_; }
  FmuInstance& instance() { return *instance_; }

  void note_use(std::span<const char> fed, std::span<const char> looked_at);

  /// Throws SimulationError.
  void start(double begin, double stop);
  bool initializing() const { return instance_->mode() == FmuMode::initializing; }
  bool end_initialization(std::span<const Sample> inputs);

  /// While the result lives, a macro-step up to `end` is under way.
  EventsOnTheWay::UnderWay begin(double end) { return {events_, end}; }
  /// What changes at communication points only.
  bool set_due_parameters();
  bool feed_held(std::span<const Polynomial> inputs);
  /// Before a step up to `end` of the piece; `begin` is where the polynomials' tau is 0. The order
  /// of derivatives falls where the FMU refuses one.
  bool feed(std::span<const Polynomial> inputs, double begin, const StepPiece& piece, double end);
  void feed_on_updates(std::span<const Polynomial> inputs, double begin);
  /// The FMU has the inputs' values at tau, which it was given as polynomials.
  void note_inputs(std::span<const Polynomial> inputs, double tau) {
    feed_.take(inputs, tau, now_.u);
  }
  /// In initialisation mode.
  bool take_inputs(std::span<const Sample> inputs);

  /// The end of the next step: that of the piece, or the next event.
  double end_of_step(const StepPiece& piece) const;
  /// One step towards `end`, and the events there; `piece`: of it, or null.
  bool step(double end, const StepPiece* piece);
  bool reaches_event(double t) const;
  bool read_outputs();
  bool read_states();

  /// Outputs that are yet those of other inputs, on which they depend directly, or parameters.
  std::vector<std::size_t> outdated(std::span<const Sample> inputs) const;

  /// At a communication point, as Subsystem::happen.
  void note_slack(double slack) { events_.note_slack(slack); }
  bool happen(std::span<const Sample> inputs, std::vector<Happening>& what);
  /// Outputs jump on the way from the present point to `end`, untold: whether the step waits here
  /// until the macro-step is accepted.
  bool meet_jump(double end);
  /// At a communication point, once: whether one has waited here, and whether one has not.
  bool take_jump() { return std::exchange(now_.event_due, false); }
  bool take_passed_jump() { return events_.take_handled(); }
  bool set_parameter(std::size_t parameter, double value);
  double parameter(std::size_t parameter) const { return parameters_.value(parameter); }
  /// As TextPorts.
  bool put_out(std::span<Texts> texts);
  bool take(std::span<const Texts> texts);

  bool save(SavedFmu& at);
  bool restore(const SavedFmu& from);
  /// Whether it may be set back to before the next step; gives what was said before.
  bool may_go_back(bool may) { return std::exchange(may_go_back_, may); }
  bool may_go_back() const { return may_go_back_; }

  /// Whether the FMU has asked for the end of the simulation.
  bool over() const { return over_; }
  void forget_end() { over_ = false; }

  /// How the FMU is used, its own state, and where it stands.
  bool pass_state(Archive& archive);
  /// What else is remembered.
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, parameters_, texts_, over_, events_);
    may_go_back_ = may_go_back_ && !archive.reading();
  }

  const std::string& failure() const { return failure_; }
  bool failed(const std::string& reason) {
    failure_ = reason + " at t = " + short_number(now_.t) + " s";
    return false;
  }
  bool failed_call() { return failed(instance_->failure()); }
  void tell(const std::string& note) const { concord::tell(*setup_, note); }
  /// "the FMU /path/to/it.fmu".
  std::string words() const { return "the FMU " + setup_->request.path.string(); }

 private:
  void find_out_directional();
  bool initialize();
  bool leave_initialization();
  bool begin_without_event_mode();
  bool feed_values(std::span<const Polynomial> inputs, double tau);
  void feed_derivatives(std::span<const Polynomial> inputs, double tau, double size);
  bool ended(const std::string& where);
  bool take_events(const EventOutcome& outcome);
  bool meet_event(const StepPiece* piece);
  bool handle_event();
  bool set_parameters_in_event();
  bool iterate_events();
  bool set_due_texts();

  std::shared_ptr<const FmuSetup> setup_;
  FmuUse use_;
  double tolerance_ = 0.0;
  double start_ = 0.0, stop_ = 0.0;
  std::unique_ptr<FmuInstance> instance_;
  FmuClocks clocks_;
  InputFeed feed_;
  FmuPorts outputs_;  ///< that somebody looks at
  TunableParameters parameters_;
  FmuTexts texts_;
  FmuPoint now_;
  EventsOnTheWay events_;
  bool may_go_back_ = false;
  bool over_ = false;
  std::string failure_;
};

}  // namespace concord

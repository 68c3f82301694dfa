#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/api.hpp"
#include "concord/archive.hpp"
#include "concord/ode_model.hpp"
#include "concord/polynomial.hpp"

namespace concord CONCORD_API {

/// What a subsystem can do beyond being fed, advanced and read (Eguillon et al. 2022, table 1).
struct Capabilities {
  bool polynomial_inputs = false;   ///< inputs as polynomials over the macro-step
  bool output_derivatives = false;  ///< y' at communication points
  bool point_outputs = false;       ///< y for given inputs at a communication point, without a step
  bool states = false;              ///< x at communication points
  bool state_derivatives = false;   ///< f at communication points
  bool linearization = false;       ///< f_x, f_u, g_x, g_u at communication points
  bool rollback = false;            ///< save and restore at a communication point
  bool equations = false;           ///< f and g at any (t,x,u): what `monolithic` needs
  bool state_outputs = false;       ///< f, y, y' where a prediction leads: for given t, x, u
  bool any_step = true;             ///< macro-steps of any size, not only that of the first one
  bool output_curvatures = false;   ///< y'' at communication points
  bool holds_inputs = false;        ///< no capability: polynomials reach it as held pieces
};

/// How the equation of a constraint answers to its unknown: directly, or only through states
/// (then one integration or two lie between, index 2 or 3).
enum class ConstraintKind { direct, indirect };

/// Everything about a subsystem that is known without simulating it.
struct SubsystemDescription {
  std::string name;
  std::string kind;  ///< "equations", "native", "fmu", "constraint", "delay"
  SharedList<InputVariable> inputs;
  SharedList<StateVariable> states;
  SharedList<OutputVariable> outputs;
  SharedList<Feedthrough> feedthrough;
  Capabilities capabilities;
  std::string one_per_process;      ///< subsystems with the same text here need different ranks
  SharedList<std::string> remarks;  ///< how capabilities come about, for `concord check`
  std::optional<ConstraintKind> constraint{};  ///< of what stands for a constraint, no model
  bool events = false;  ///< something may happen that it tells of: `next_event` and the like
  bool kinks = false;   ///< of its own at times that it has told before the start (tables)
  SharedList<std::string> parameters{};  ///< tunable: may be set between macro-steps
  /// "constraint 'lambda'", "the delay of a.y -> b.u": what it is in the model, if no subsystem.
  std::string stands_for{};
};

/// One macro-step [begin, end], t_0 + n h and never a running sum, rounded as times are; `h` is
/// exactly its size, which far from t = 0 the difference of the two is not.
struct MacroStep {
  using AllDoubles = void;  ///< for archives
  double begin = 0.0;
  double end = 0.0;
  double h = end - begin;
  double size() const { return h; }
};

/// From one time event to the next: f and g are smooth inside; at the ends, what counts are their
/// limits from inside.
struct SmoothInterval {
  double from = -std::numeric_limits<double>::infinity();
  double until = std::numeric_limits<double>::infinity();
};

/// Result of a call that may fail in a way that a smaller step or other inputs can cure.
/// The reason of a failure is in `Subsystem::failure()`.
enum class Outcome { ok, failed };

/// Whether the inputs of a macro-step continue those of the one before with value and slope, so
/// that a multistep integrator need not restart. `broken` always restarts.
enum class InputContinuity { broken, smooth };

/// Which outputs a call is asked for: y alone, y and y', or y'' too, for which no subsystem is
/// asked by this word, but by `output_curvatures`.
enum class Wanted { values, values_and_derivatives, up_to_curvatures };

/// f, g and their partial derivatives at a communication point (t_N, x_N, u_N). Row-major.
struct Linearization {
  std::vector<double> f_x, f_u, g_x, g_u;  ///< n_st*n_st, n_st*n_in, n_out*n_st, n_out*n_in
  std::vector<double> f, g;                ///< n_st, n_out
  std::vector<double> f_t, g_t;            ///< n_st, n_out: explicit time dependence
  std::int64_t parameters = 0;             ///< how often they had been set
  /// n_out*n_in: how outputs answer to inputs of `late` s before, the same at every point; empty:
  /// not at all.
  std::vector<double> g_late;
  double late = 0.0;
};

/// A point that the subsystem need not have reached: time, size of the macro-step that leads there,
/// states and inputs.
struct StatePoint {
  double t = 0.0;
  double h = 0.0;
  std::span<const double> x;
  std::span<const Sample> inputs;
  bool input_curvatures = false;                   ///< whether inputs have got there with these
  Wanted wanted = Wanted::values_and_derivatives;  ///< of outputs
};

/// What happened at an event, as its user wrote it ("gap < 0"); `part`: in whom, where a subsystem
/// stands for several.
struct Happening {
  std::size_t part = 0;
  std::string what;
};

/// Where a subsystem has been in a macro-step that the coupling has integrated.
struct IntegratedWay {
  std::span<const double> shares;  ///< of the macro-step, ascending, the last one 1
  std::span<const double> states;  ///< n_st at each of these, one after the other
  std::span<const double>
      errors;  ///< n_st, signed: what is left wrong at the end; empty: not known
};

/// Finding out what holds at the start, or one pass over what happens at an instant; or one at its
/// end, after inputs have been made to fit: what has changed there stays changed, by however little
/// they now lie before where it did.
enum class EventPass { settle, happen, fit };

/// What a pass changes at its instant: nothing; slopes and curvatures of outputs alone, as a kink
/// does, whose values are as exact as they were; or values.
enum class EventChange { nothing, slopes, values };

/// What a subsystem has cost so far (results file, /subsystems).
struct Counters {
  std::int64_t advances = 0;
  std::int64_t rhs_evaluations = 0;
  std::int64_t micro_steps = 0;
  std::int64_t restarts = 0;  ///< new starts at events that reached it
  double wall_time = 0.0;     ///< seconds in advance()
  std::int64_t revived = 0;   ///< new processes after its own had died (isolated ones)

  // s as well, filled in from outside; of short macro-steps every sixteenth counts for all.
  double linearize_time = 0.0, output_time = 0.0, rollback_time = 0.0, event_time = 0.0;
};

class TextPorts;

/// One subsystem of the network, living on one rank.
///
/// Call sequence: start, then per macro-step [save] advance [restore advance]... ; between macro-
/// steps, at a communication point: point_outputs, states, state_derivatives, linearize. `restore`
/// returns to the last `save`, as often as wanted; after it the same calls give the same bits.
/// Inputs are spans over all inputs in the order of description().inputs, connected or not.
/// Calls that the capabilities don't cover must not be made.
///
/// Derive from it to write a subsystem with time stepping of its own (ModelBuilder::add_subsystem);
/// an OdeModel is the shorter way where Concord is to integrate. Required are `start`, `advance`
/// and what the description's capabilities promise. A call that fails returns Outcome::failed with
/// its reason in `failure_`, where a smaller step or other inputs may help; it throws where nothing
/// will.
class Subsystem {
 public:
  explicit Subsystem(SubsystemDescription description) : description_(std::move(description)) {}
  virtual ~Subsystem() = default;
  Subsystem(const Subsystem&) = delete;
  Subsystem& operator=(const Subsystem&) = delete;

  const SubsystemDescription& description() const { return description_; }
  const Counters& counters() const { return counters_; }

  /// Place (variable, time), value and reason of the last failed call.
  const std::string& failure() const { return failure_; }

  /// Sets t = first.begin and the start values. `first` is the first macro-step (its size is the
  /// time scale of difference quotients), `stop` the end of the experiment.
  virtual void start(const MacroStep& first, double stop) = 0;

  /// Before start, and between macro-steps where it changes: which inputs something feeds and which
  /// outputs somebody looks at. What nobody needs may stay as it was at the start.
  virtual void note_use(std::span<const char> /*fed*/, std::span<const char> /*looked_at*/) {}

  /// Whether start values are still being found: `point_outputs` gives values only, and is asked
  /// for them until they fit in the whole network; then `end_initialization` follows.
  virtual bool initializing() const { return false; }

  /// The inputs at the start are these. Events at the very start happen here.
  virtual Outcome end_initialization(std::span<const Sample> /*inputs*/) { return Outcome::ok; }

  /// Before start and after each time event: what lies ahead. Subsystems that find events by
  /// themselves need not listen.
  virtual void enter(const SmoothInterval& /*interval*/) {}

  /// Integrates from step.begin (the current time) to step.end with inputs that are polynomials of
  /// tau = t - step.begin, and gives the outputs at step.end with the polynomials' end values.
  virtual Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                          InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) = 0;

  /// In place of `advance`, where the coupling has integrated f: the subsystem has gone this way,
  /// with inputs that are about these polynomials, and stands at step.end.
  virtual Outcome follow(const MacroStep& /*step*/, std::span<const Polynomial> /*inputs*/,
                         const IntegratedWay& /*way*/) {
    return unable();
  }

  /// Outputs at the current communication point for inputs u, u'.
  virtual Outcome point_outputs(std::span<const Sample> /*inputs*/, Wanted /*wanted*/,
                                std::span<Sample> /*outputs*/) {
    return unable();
  }

  /// y'' at the current communication point for inputs u, u', u'': the second derivatives by time
  /// along the solution, one per output.
  virtual Outcome output_curvatures(std::span<const Sample> /*inputs*/,
                                    std::span<double> /*result*/) {
    failure_ = "cannot tell the second derivatives of its outputs (capability output_curvatures)";
    return Outcome::failed;
  }

  /// x at the current communication point, size n_st; valid until the next call.
  virtual std::span<const double> states() const { return {}; }

  /// What the last `advance` has left wrong in the states, signed, size n_st: the local errors of
  /// its micro-steps, as its integrator estimates them. Empty where it does not.
  virtual std::span<const double> integration_errors() const { return {}; }

  /// f at the current communication point, size n_st.
  virtual Outcome state_derivatives(std::span<const Sample> /*inputs*/,
                                    std::span<double> /*result*/) {
    return unable();
  }

  /// f, g and their derivatives at the current communication point; result's vectors are resized on
  /// first use only.
  virtual Outcome linearize(std::span<const Sample> /*inputs*/, Linearization& /*result*/) {
    return unable();
  }

  /// Whether f_x, f_u, f_t, g_x, g_u, g_t at the current communication point are still those of
  /// `known`, in every direction: what is cheaper to find out than to linearise. False where only
  /// `linearize` can tell.
  virtual bool keeps(const Linearization& /*known*/, std::span<const Sample> /*inputs*/) {
    return false;
  }

  /// f, and y with y', at a point near the solution; the subsystem stays where it is.
  virtual Outcome derivatives_at(const StatePoint& /*point*/, std::span<double> /*result*/) {
    return Outcome::failed;
  }
  virtual Outcome outputs_at(const StatePoint& /*point*/, std::span<Sample> /*outputs*/) {
    return Outcome::failed;
  }

  /// The same as `linearize`, there, but for f_t and g_t, which stay as they were.
  virtual Outcome linearize_at(const StatePoint& /*point*/, Linearization& /*result*/) {
    return unable();
  }

  /// y'' there, as `output_curvatures` gives it at the communication point.
  virtual Outcome output_curvatures_at(const StatePoint& /*point*/, std::span<double> /*result*/) {
    return Outcome::failed;
  }

  /// The next time, from the communication point on, at which something happens whatever inputs and
  /// states are, s: macro-steps end there. Infinity without one. This and the two calls that follow
  /// are made where the description says that there are events.
  virtual double next_time_event() const { return std::numeric_limits<double>::infinity(); }

  /// After `advance`: the earliest time at which something happens, s. Within the macro-step, where
  /// it has happened already with those inputs or with `inputs` at its end (empty: not known); else
  /// roughly, where what has been is continued.
  virtual double next_event(std::span<const Sample> /*inputs*/) {
    return std::numeric_limits<double>::infinity();
  }

  /// At a communication point that will not be taken back: lets happen what does there or within
  /// `slack` seconds. `change`: what has come of it; if anything, it is asked again, with what
  /// inputs have become.
  virtual Outcome happen(EventPass /*pass*/, std::span<const Sample> /*inputs*/, double /*slack*/,
                         EventChange& change, std::vector<Happening>& /*what*/) {
    change = EventChange::nothing;
    return Outcome::ok;
  }

  /// Sets a tunable parameter, by its position in the description, before the start or at a
  /// communication point that will not be taken back; a new start at that point follows.
  virtual Outcome set_parameter(std::size_t /*parameter*/, double /*value*/) {
    failure_ = "has no tunable parameters";
    return Outcome::failed;
  }

  /// The texts and bytes that it takes and puts out (FMUs have some); null: none.
  virtual TextPorts* texts() { return nullptr; }

  /// The value that this parameter has; none: not known.
  virtual std::optional<double> parameter(std::size_t /*parameter*/) { return std::nullopt; }

  /// After an `advance` that is kept, before anything happens at its end: where the subsystem has
  /// been on the way, for the record. From `states` at step.begin, with those inputs, to states and
  /// outputs (values) at step.end, as exactly as `advance`. The subsystem stays where it is, and
  /// all that follows has the same bits as without the call. Outcome::failed where it cannot tell.
  virtual bool retraces() const { return false; }
  virtual Outcome retrace(const MacroStep& /*step*/, std::span<const Polynomial> /*inputs*/,
                          std::span<double> /*states*/, std::span<Sample> /*outputs*/) {
    return unable();
  }

  virtual void save() {}
  virtual void restore() {}

  /// All that the next macro-step depends on, at a communication point that will not be taken back:
  /// of a subsystem that was started when it is written; when it is read, of one that was made and
  /// started in the same way, and may have gone on since. What was only kept to save work is
  /// dropped then. False, and nothing is passed, where that cannot be.
  virtual bool io(Archive& /*archive*/) { return false; }
  /// Of what `io` passes: to be raised where that changes.
  virtual int memory_version() const { return 1; }

  /// After `start`, before anything else is asked, of a subsystem of another run: begins at time t
  /// in the states x, with what else a start takes from the `memory` that the other's `io` has
  /// written. Parameters are this one's. False, with the reason in `failure_`, where that cannot
  /// be.
  virtual bool start_from(double /*t*/, std::span<const double> /*x*/,
                          std::span<const std::byte> /*memory*/) {
    failure_ = "cannot start from what another run has left (Subsystem::start_from)";
    return false;
  }

  /// f and g for `monolithic`, from the start on; null without that capability, or where an event
  /// has turned out.
  virtual OdeModel* equations() { return nullptr; }

  /// `monolithic` has come to this point and goes on from it. False where that makes an event.
  virtual bool complete_step(double /*t*/, std::span<const double> /*x*/,
                             std::span<const double> /*u*/) {
    return true;
  }

 protected:
  /// What the capabilities don't cover.
  Outcome unable() {
    failure_ = "was asked for what it does not offer";
    return Outcome::failed;
  }

  SubsystemDescription description_;
  Counters counters_;
  std::string failure_;
};

}  // namespace CONCORD_API

#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "concord/archive.hpp"
#include "concord/ode_model.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// An OdeModel whose f and g change at events: state events (an indicator changes its sign), time
/// events (known before), step events (found after a micro-step) and input events.
///
/// Between events f, g and the indicators are functions of (t, x, u) alone, evaluated at any point;
/// before the last and behind the next one they throw RecoverableFailure.
class HybridModel : public OdeModel {
 public:
  /// Before all: which inputs something feeds.
  virtual void note_use(std::span<const char> /*fed*/) {}

  /// Begins to initialise at t: outputs may be asked for with any inputs.
  virtual void begin_initialization(double t, double stop) = 0;
  virtual bool initializing() const = 0;

  /// These are the inputs at the start; gives the start values of the states, size n_st.
  virtual void end_initialization(std::span<const double> u, std::span<double> x) = 0;

  virtual std::size_t indicator_count() const = 0;

  /// Whether there can be events at all; without, the usual integrators are used.
  virtual bool has_events() const = 0;

  /// z(t,x,u), size indicator_count().
  virtual void indicators(double t, std::span<const double> x, std::span<const double> u,
                          std::span<double> z) = 0;

  /// Whether the inputs differ from the model's where only an event may change them: at u, there is
  /// one at a macro-step's begin.
  virtual bool input_event(std::span<const double> u) = 0;

  /// The next time event; infinity without one.
  virtual double next_time_event() const = 0;

  /// Whether the model wants to know of completed micro-steps, behind which nothing may be
  /// evaluated any more.
  virtual bool wants_completed_steps() const = 0;

  /// To be called for each micro-step that will not be taken back; true: there is a step event.
  virtual bool completed_step(double t, std::span<const double> x, std::span<const double> u) = 0;

  /// Whether micro-steps may be completed that are taken back with `restore`: else only what leads
  /// to communication points is, once it is accepted.
  virtual bool takes_back_completed_steps() const = 0;

  /// Where f and g can be evaluated: from the last event or completed step to the next time event
  /// or the end of the experiment.
  virtual SmoothInterval reachable() const = 0;

  /// Handles the events at (t, x, u); x may jump. Throws RecoverableFailure where the model fails.
  virtual void handle_event(double t, std::span<double> x, std::span<const double> u) = 0;

  /// The same behind the communication point `from`, which will not be taken back; times between
  /// the two count as t.
  virtual void handle_accepted_event(double t, double from, std::span<double> x,
                                     std::span<const double> u) = 0;

  /// After `set_parameter`, between macro-steps: what it makes of the model, and of x.
  virtual void change_parameters(double t, std::span<double> x, std::span<const double> u) = 0;

  /// All that f and g depend on beside (t, x, u), as Subsystem::io. Why that cannot be, or nothing.
  virtual std::optional<std::string> io(Archive& archive) = 0;
  /// Of what `io` passes: to be raised where that changes.
  virtual int memory_version() const { return 1; }

  /// As Subsystem::texts; what it takes is there in the next event, which it makes.
  virtual TextPorts* texts() { return nullptr; }

  /// Keeps, and returns to, what events have changed.
  virtual void save() = 0;
  virtual void restore() = 0;
};

}  // namespace concord

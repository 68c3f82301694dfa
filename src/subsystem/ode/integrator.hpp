#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// Whether an integrator may use what it remembers of the macro-step before.
enum class History { discard, keep };

/// What a model's own events were in a macro-step.
struct HandledEvents {
  double first = std::numeric_limits<double>::infinity();  ///< tau
  std::vector<Happening> what;
};

/// Who lets a model's own events happen: the integrator, all of them; the integrator, but for those
/// at ends of macro-steps, and it tells; or others at ends of macro-steps, and the integrator shows
/// the way there.
enum class EventHandling { own, told, located };

/// Integrates the states over one macro-step.
///
/// Time is local: tau = 0 at the macro-step's begin. What an integrator remembers from step to step
/// (step sizes, not counters) is covered by save and restore, but for a multistep history: `save`
/// keeps it, `restore` drops it, as it may belong to a trial that is no more.
class Integrator {
 public:
  explicit Integrator(RightHandSide& rhs) : rhs_(rhs) {}
  virtual ~Integrator() = default;
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  /// x_end = x(h) from x(0) = x_begin, n_st values each, apart from each other. After a failure
  /// `x_end` is meaningless, but for erk: the states at `reached`. Throws what the model threw.
  virtual Outcome integrate(double h, History history, std::span<const double> x_begin,
                            std::span<double> x_end) = 0;

  /// One sentence on the last failed call.
  virtual std::string failure() const = 0;

  /// How far the last call came, in seconds since the macro-step's begin.
  virtual double reached() const = 0;

  /// In the last call.
  virtual HandledEvents* handled_events() { return nullptr; }

  /// What the last call, if it did not fail, has left wrong in x_end: the local errors of its
  /// micro-steps, signed, as it estimates them; empty where it does not.
  virtual std::span<const double> local_errors() const { return {}; }

  /// Whether the last call has used what History::keep allowed it to.
  virtual bool continued() const { return false; }

  virtual void save() = 0;
  virtual void restore() = 0;

  /// What is no cache: where the model's events stand.
  virtual void io(Archive& /*archive*/) {}
  /// Of what `io` passes: to be raised where that changes.
  virtual int memory_version() const { return 1; }

  /// What it has found out about the way so far: sizes of micro-steps, orders, methods. A multistep
  /// history is not in it. Of another kind of integrator nothing can be read.
  virtual void pass_course(Archive& archive) = 0;

  /// Accepted micro-steps so far; never rolled back.
  std::int64_t micro_steps() const { return micro_steps_; }

 protected:
  RightHandSide& rhs_;
  std::int64_t micro_steps_ = 0;
};

/// Micro-steps after which a macro-step is given up.
inline constexpr long max_micro_steps = 100'000;

/// Smallest micro-step beside the macro-step's end, a little above rounding.
inline constexpr double smallest_micro_step = 1e-15;

std::unique_ptr<Integrator> make_erk(RightHandSide& rhs);
std::unique_ptr<Integrator> make_dirk(RightHandSide& rhs);
std::unique_ptr<Integrator> make_cvode_bdf(RightHandSide& rhs);
std::unique_ptr<Integrator> make_cvode_adams(RightHandSide& rhs);
std::unique_ptr<Integrator> make_automatic(RightHandSide& rhs);

/// The same methods, stopped at the model's events, and telling it of micro-steps.
std::unique_ptr<Integrator> make_event_integrator(RightHandSide& rhs, IntegratorKind kind,
                                                  HybridModel& model, EventHandling handling);

/// The integrator of a kind.
std::unique_ptr<Integrator> make_integrator(RightHandSide& rhs, IntegratorKind kind);

/// A failure's sentence: the model's reason where f failed close to `tau`, where the integration
/// ended, else the method's.
std::string integration_failure(const char* method, const RightHandSide& rhs,
                                const std::string& reason, double tau);

}  // namespace concord

#pragma once

#include <functional>
#include <memory>
#include <span>

#include "subsystem/ode/integrator.hpp"

namespace concord {

/// Functions whose change of sign ends a micro-step: z(tau, x); returns the codes of RightHandSide.
struct Roots {
  std::size_t count = 0;
  std::function<int(double tau, std::span<const double> x, std::span<double> z)> evaluate;
};

/// One micro-step after the other, for an integrator that stops at events.
///
/// tau is 0 at the macro-step's begin. Between `begin`, `restart` and `step` the states are the
/// method's own.
class MicroSteps {
 public:
  enum class End { usual, root, failed };

  virtual ~MicroSteps() = default;

  /// A macro-step of size h begins; with History::keep `x` is where the last one has ended.
  virtual void begin(double h, History history, std::span<const double> x) = 0;

  /// The states are `x` at tau, whatever they were: an event.
  virtual void restart(double tau, std::span<const double> x) = 0;

  /// From here on nothing is evaluated behind the last micro-step: what root finding would need f
  /// for there is dropped.
  virtual void leave_behind() {}

  /// A micro-step that ends at `end` or before, in `tau` and `x`; unchanged after a failure.
  virtual End step(double end, double& tau, std::span<double> x) = 0;

  /// One sentence on the last failed step.
  virtual std::string failure() const = 0;

  /// As Integrator's.
  virtual void save() = 0;
  virtual void restore() = 0;
  virtual void pass_course(Archive& archive) = 0;
};

/// Explicit Runge-Kutta; for any number of states, also none.
std::unique_ptr<MicroSteps> make_erk_micro_steps(RightHandSide& rhs, Roots roots);

/// Implicit Runge-Kutta, and CVODE: for one state at least.
std::unique_ptr<MicroSteps> make_dirk_micro_steps(RightHandSide& rhs, Roots roots);
std::unique_ptr<MicroSteps> make_bdf_micro_steps(RightHandSide& rhs, Roots roots);
std::unique_ptr<MicroSteps> make_adams_micro_steps(RightHandSide& rhs, Roots roots);

}  // namespace concord

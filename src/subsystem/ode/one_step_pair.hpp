#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// An embedded Runge-Kutta pair within a macro-step: micro-step by micro-step to its end. Nothing
/// is remembered from before `begin`, so that equal calls give equal bits.
class OneStepPair {
 public:
  /// Who drives the pair chooses the micro-steps.
  struct Driver {
    /// The size after an attempt of `size` whose error is `error` in units of the tolerance and
    /// grows with size^(p+1).
    std::function<double(double size, double error, int p)> adapt;
    std::function<void(double tau)> accepted;
    std::function<double()> multiple_of_tolerance;
  };

  virtual ~OneStepPair() = default;

  /// What a micro-step costs, and p of its error.
  struct Order {
    std::size_t evaluations = 0;
    int embedded = 0;
  };

  /// As in messages and options.
  virtual const char* name() const = 0;

  /// For macro-steps of many micro-steps the higher one of orders from the next `begin` on, or the
  /// lower one; where there is such a choice.
  virtual void take_order(bool /*high*/) {}

  /// At (tau, x()); the first micro-step has `first_size`.
  virtual void begin(double tau, double first_size, double smallest_size) = 0;

  /// To `end`, into x(). Returns ARKODE's code; after a failure the states are those after the last
  /// accepted micro-step.
  virtual int evolve(double end) = 0;

  virtual std::span<double> x() = 0;

  /// For a driver that chooses sizes: the estimate of the error of the last attempt, signed, which
  /// is the two methods' difference; and what it says of the method that goes on (error_ratio.hpp).
  virtual std::span<const double> error() { return {}; }
  virtual double error_ratio() const { return 1.0; }

  /// One sentence on what a code of `evolve` says.
  virtual std::string explain(int code) const = 0;
};

/// Micro-steps are this fraction of what the controller proposes.
inline constexpr double safety = 0.96;
inline constexpr double largest_growth = 20.0;

/// Whether a micro-step of this size comes to the end of what is left.
inline bool comes_to_end(double size, double left) {
  return size >= left * (1.0 - 4.0 * std::numeric_limits<double>::epsilon());
}

/// Whether tolerances that give the states this norm ask for more than rounding leaves.
inline bool is_beyond_rounding(double norm) {
  return std::numeric_limits<double>::epsilon() * norm > 1.0;
}

/// `size`: of the micro-step that failed.
std::string explain_arkode(int code, double size);

std::unique_ptr<OneStepPair> make_explicit_steps(RightHandSide& rhs, OneStepPair::Driver driver);
std::unique_ptr<OneStepPair> make_implicit_steps(RightHandSide& rhs, OneStepPair::Driver driver);

}  // namespace concord

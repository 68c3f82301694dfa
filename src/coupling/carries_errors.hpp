#pragma once

#include <Eigen/Core>
#include <span>

namespace concord {

/// What is wrong with one subsystem over a macro-step.
struct CarriedError {
  Eigen::VectorXd x;     ///< of its states, where the macro-step begins; then where it ends
  Eigen::VectorXd u;     ///< of its inputs that no output feeds in the macro-step, 0 elsewhere
  Eigen::VectorXd f, g;  ///< of derivatives and outputs, by what else has changed
};

/// A coupling that knows what errors become over a macro-step.
class CarriesErrors {
 public:
  virtual ~CarriesErrors() = default;

  /// Over the macro-step that was solved last. `errors`: of own subsystems; `inputs`: of connected
  /// inputs beside what outputs' errors make of them. False where the linear system is not solved.
  /// Collective.
  virtual bool carry_errors(std::span<CarriedError> errors, std::span<const double> inputs) = 0;
};

}  // namespace concord

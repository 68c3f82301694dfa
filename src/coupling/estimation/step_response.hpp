#pragma once

#include <array>

#include "coupling/estimation/exponential_action.hpp"
#include "coupling/estimation/phi_functions.hpp"

namespace concord {

/// D = diag(d) of powers of 16 with which row i of D^-1 (A, B), B in units of inputs in which each
/// moves something by one within h, is about as large as column i of D^-1 A D, or as 1/h, below
/// which no column matters (Parlett and Reinsch 1969, in the maximum norm, without the diagonal).
/// Ones where A or B isn't finite.
Eigen::VectorXd balancing_units(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);

/// Polynomial of s = tau/h: coefficients of 1, s, s^2, s^3.
using Shape = std::array<double, 4>;

/// The linear system x' = A x + B u + v at work over one macro-step, from x = 0: by matrices of phi
/// functions where it is small, which cost n^3 once and n^2 per macro-step, and by Krylov spaces
/// where it is large.
///
/// Both measure matrices and vectors as a whole, so they work on z = D^-1 x, in which no unit of a
/// state makes A large.
class StepResponse {
 public:
  explicit StepResponse(Response response) : response_(response) {}

  /// A is n x n, B n x m; `leaving` is the shape of inputs that leave with slope one per s and
  /// return to zero.
  void prepare(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h, const Shape& leaving);

  /// n x m; column i is x(h) for u_i = shape(s).
  Eigen::MatrixXd to_inputs(const Shape& shape);

  /// x(h) for v = constant + s ramp and u_i = slopes_i leaving(s).
  void free(const Eigen::VectorXd& constant, const Eigen::VectorXd& ramp,
            const Eigen::VectorXd& slopes, Eigen::VectorXd& x);

  /// x(h) for v = s^2 times a vector.
  void to_square(const Eigen::VectorXd& vector, Eigen::VectorXd& x);

 private:
  Response response_;
  Eigen::VectorXd units_;  ///< the diagonal of D
  Eigen::VectorXd constant_, ramp_;
  bool large_ = false;
  Shape leaving_{};
  PhiMatrices phi_;
  Eigen::MatrixXd from_slopes_;
  ExponentialAction action_;
  Eigen::MatrixXd b_;        ///< D^-1 B
  Eigen::MatrixXd forcing_;  ///< where large
};

}  // namespace concord

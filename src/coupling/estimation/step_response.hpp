#pragma once

#include <array>

#include "coupling/estimation/exponential_action.hpp"
#include "coupling/estimation/phi_functions.hpp"
#include "coupling/estimation/state_space_matrix.hpp"

namespace concord {

/// D = diag(d) of powers of 16 with which row i of D^-1 (A, B), B in units of inputs in which each
/// moves something by one within h, is about as large as column i of D^-1 A D, or as 1/h, below
/// which no column matters (Parlett and Reinsch 1969, in the maximum norm, without the diagonal).
/// Ones where A or B isn't finite.
Eigen::VectorXd balancing_units(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);
Eigen::VectorXd balancing_units(const Entries& a, const Eigen::MatrixXd& b, double h);

/// Polynomial of s = tau/h: coefficients of 1, s, s^2, ...; of degree 3 those beyond are 0.
using Shape = std::array<double, 6>;

/// Shapes of inputs that leave with slope one per s and with curvature one per s^2, and return to
/// zero.
struct Leaving {
  Shape by_slope{}, by_curvature{};
};

/// The linear system x' = A x + B u + v at work over one macro-step, from x = 0: by matrices of phi
/// functions where it is small, which cost n^3 once and n^2 per macro-step, and by Krylov spaces
/// where it is large.
///
/// Both measure matrices and vectors as a whole, so they work on z = D^-1 x, in which no unit of a
/// state makes A large.
class StepResponse {
 public:
  /// `degree` of the inputs: 3, or 5, which alone leave with curvatures.
  StepResponse(Response response, int degree) : response_(response), degree_(degree) {}

  /// A is n x n, B n x m.
  void prepare(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h,
               const Leaving& leaving);
  /// As where A is large, whatever its size; with Response::expm.
  void prepare(const Entries& a, const Eigen::MatrixXd& b, double h, const Leaving& leaving);

  /// D of the macro-step that is prepared.
  const Eigen::VectorXd& units() const { return units_; }

  /// n x m; column i is x(h) for u_i = shape(s).
  Eigen::MatrixXd to_inputs(const Shape& shape);

  /// x(h) for v = constant + s ramp and inputs that leave with these slopes and curvatures.
  void free(const Eigen::VectorXd& constant, const Eigen::VectorXd& ramp,
            const Eigen::VectorXd& slopes, const Eigen::VectorXd& curvatures, Eigen::VectorXd& x);

  /// x(h) for v = s^2 times a vector.
  void to_square(const Eigen::VectorXd& vector, Eigen::VectorXd& x);

 private:
  Response response_;
  int degree_;
  Eigen::VectorXd units_;  ///< the diagonal of D
  Eigen::VectorXd constant_, ramp_;
  bool large_ = false;
  Leaving leaving_;
  PhiMatrices phi_;
  Eigen::MatrixXd from_slopes_, from_curvatures_;
  ExponentialAction action_;
  Eigen::MatrixXd b_;        ///< D^-1 B
  Eigen::MatrixXd forcing_;  ///< where large
};

}  // namespace concord

#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "studies/differences.hpp"

namespace concord {

/// A number that is to be found between bounds, which may be infinite.
struct FreeNumber {
  std::string name;
  double start = 0.0;
  double lower = 0.0, upper = 0.0;

  /// What changes of it are measured by: the width between bounds, or itself.
  double size() const;
  /// Whether a value is as good as at the bound.
  bool at_lower(double value) const { return value <= lower + 1e-9 * size(); }
  bool at_upper(double value) const { return value >= upper - 1e-9 * size(); }
  bool at_bound(double value) const { return at_lower(value) || at_upper(value); }
};

std::vector<double> starts_of(const std::vector<FreeNumber>& free);

/// Residuals, each in units of its standard deviation, and their derivatives.
struct Residuals {
  Eigen::VectorXd values;
  Eigen::MatrixXd by;  ///< values x numbers
};
using ResidualsAt = std::function<Residuals(const std::vector<double>& numbers)>;

/// Where the sum of the squares of residuals is least.
struct LeastSquares {
  std::vector<double> numbers;
  int iterations = 0;
  std::string reason;  ///< in words, or PETSc's word for it
  bool converged = false;
};

/// Bounded Gauss-Newton in a trust region, as Levenberg and Marquardt damp it: PETSc's TAOBRGN,
/// options -fit_tao_*, where each number is measured by its size. Residuals that are not finite are
/// taken for large ones. It ends where a step would make the sum smaller by the share `settled` of
/// what one degree of freedom has of it, which moves numbers by their standard deviations. The same
/// on every rank that calls it with the same.
LeastSquares least_squares(const std::vector<FreeNumber>& free, const ResidualsAt& residuals,
                           double settled);

/// What residuals around the numbers found say of these.
struct Confidence {
  std::vector<double> half_widths;  ///< of 95 % intervals; infinite where nothing is known
  Eigen::MatrixXd correlations;
  double condition = 1.0;   ///< largest to smallest singular value, of numbers by their sizes
  Eigen::VectorXd weakest;  ///< the direction that the data tell least of, by sizes
};

/// Whether standard deviations of the data are known, or have been estimated from residuals.
enum class Deviations { known, estimated };

/// From the linearisation, where residuals are in units of their standard deviations: with the
/// normal distribution where these are known, else with Student's t (Seber and Wild 1989, Nonlinear
/// Regression, 5.1). Numbers that are at a bound are taken for known.
Confidence confidence_of(const std::vector<FreeNumber>& free, const std::vector<double>& numbers,
                         const Residuals& residuals, Deviations deviations);

}  // namespace concord

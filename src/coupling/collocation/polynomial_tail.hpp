#pragma once

#include "coupling/collocation/collocation_nodes.hpp"

namespace concord {

/// What polynomials through nodes miss between them, at most, as the coefficients of their Legendre
/// series say: these fall geometrically where the function is analytic, and faster where it is
/// entire (Trefethen, Approximation Theory and Approximation Practice, 2013, chapter 8). The larger
/// of each two neighbours counts: what is even or odd lacks every other one.
class PolynomialTail {
 public:
  explicit PolynomialTail(const CollocationNodes& nodes);

  /// Of the polynomial through values at the nodes, a stride apart, and at both ends.
  double of_values(const double* values, Eigen::Index stride) const;
  /// Of the integral up to points within a macro-step of 1 s of the polynomial through these values
  /// at the nodes.
  double of_integral(const double* slopes, Eigen::Index stride) const;

 private:
  /// What is behind the coefficients that are known: the sum of all, the powers up to `first` left
  /// out.
  double beyond(const double* values, Eigen::Index stride, Eigen::Index first) const;

  Eigen::MatrixXd to_coefficients_;  ///< a row for each power
  Eigen::Index points_;              ///< nodes and ends
  /// What becomes of the first power that is left out, at most.
  double of_value_, of_integral_;
};

}  // namespace concord

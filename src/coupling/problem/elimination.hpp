#pragma once

#include "support/petsc.hpp"

namespace concord {

/// What a factorisation of a sparse matrix of one rank would take, in the order of minimum degree
/// of A + A^T without choice of pivots (Amestoy, Davis, Duff 1996): counted by symbolic
/// elimination, no further than to what is too much.
struct Elimination {
  double operations = 0.0;  ///< of one factorisation; at least, where it is not cheap
  double product = 0.0;     ///< of one product with the matrix
  double fill = 1.0;        ///< entries of the factors beside the matrix's, likewise

  /// Whether it takes no more than an iteration would, which makes some tens of products with the
  /// matrix and as many with its incomplete factors, orthogonalises, and runs at a third of the
  /// speed. Measured, both take the same time at 500 (random networks, whose matrix changes in
  /// each macro-step) to 1700 (grids, whose factors are kept for some).
  bool is_cheap() const { return operations <= as_many_products * product; }

  static constexpr double as_many_products = 500.0;
};

Elimination elimination_of(Mat matrix);

}  // namespace concord

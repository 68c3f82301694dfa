#pragma once

#include <vector>

#include "coupling/constraint_rows.hpp"
#include "support/petsc.hpp"

namespace concord {

/// How far the unknowns of indirect constraints still are from their solution: the entries of
/// J^{-1} R at them, J the Jacobian of the coupling residual R.
///
/// Their rows alone don't tell: a position constraint answers to its unknown by h^2, so that it can
/// be met to its tolerance by an unknown that is off by the tolerance over h^2.
class UnknownsError {
 public:
  /// `matrix`: J; its factors are kept while it doesn't change.
  UnknownsError(const ConstraintRows& constraints, Mat matrix, int parts);

  /// Largest error of an unknown on any rank, value and h times slope together, relative to the
  /// larger of the value and `floor`. `scale`: S of J's columns, that of a slope being the value's
  /// over h. Collective.
  double largest(Vec residual, std::span<const double> scale, std::span<const Sample> inputs,
                 std::span<const std::size_t> connected, double floor);

 private:
  const ConstraintRows& constraints_;
  std::size_t parts_;
  KspHandle ksp_;
  VecHandle correction_;
};

}  // namespace concord

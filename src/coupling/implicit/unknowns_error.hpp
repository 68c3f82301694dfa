#pragma once

#include "support/petsc.hpp"

namespace concord {

/// How far unknowns are from their solution: e = J^{-1} R, J the Jacobian of the coupling residual
/// R, both scaled.
///
/// R alone doesn't tell: a loop whose gain is near 1 amplifies it, and a position constraint
/// answers to its unknown by h^2, so that it can be met to its tolerance by an unknown that is off
/// by the tolerance over h^2.
class UnknownsError {
 public:
  /// `matrix`: J; its factors are kept while it doesn't change.
  UnknownsError(Mat matrix, bool zeros_on_diagonal);

  /// e, or null where J is singular. Collective.
  Vec solve(Vec residual);

 private:
  KspHandle ksp_;
  VecHandle error_;
};

}  // namespace concord

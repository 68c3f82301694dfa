#pragma once

#include "expression/program.hpp"
#include "subsystem/equations/smooth_equations.hpp"

namespace concord {

/// y'' of outputs y = g(t,x,u) where x' = f(t,x,u) (methods 13), one program: g derived by t twice,
/// with f in the place of x', so that only those parts of f are left that outputs move with. Its
/// variables: those of the equations, then u', then u''.
Evaluation output_curvatures(const SmoothEquations& equations);

}  // namespace concord

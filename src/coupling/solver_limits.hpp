#pragma once

#include "support/petsc.hpp"

namespace concord {

/// Throws InputError where PETSc 3.18 itself would crash or never return with the solver that the
/// options have chosen. Other unsuitable solvers give PETSc errors.
void refuse_defective_solvers(SNES snes);

}  // namespace concord

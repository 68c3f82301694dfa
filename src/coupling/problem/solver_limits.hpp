#pragma once

#include <string>

#include "support/petsc.hpp"

namespace concord {

/// Throws InputError where PETSc 3.18 itself would crash or never return with the solver that the
/// options have chosen. Other unsuitable solvers give PETSc errors.
void refuse_defective_solvers(SNES snes);

/// Throws InputError for a -snes_type that needs what a coupling has not: grids, parts, bounds,
/// other solvers to be combined.
void refuse_solvers_of_other_problems(const std::string& snes_type);

}  // namespace concord

#pragma once

#include <string>
#include <vector>

namespace concord {

/// Names (without dash) of the options that the loaded PETSc library reads, of solvers, matrices
/// and PETSc itself: the texts "-name" that it contains. PETSc keeps no list of them before they
/// are read. Sorted.
const std::vector<std::string>& petsc_option_names();

/// Whether PETSc, or a library that was loaded beside it, reads an option of this name: its own, or
/// an object's in it ("loop_ksp_type", "mg_levels_1_pc_type").
bool is_option_of_libraries(const std::string& name);

}  // namespace concord

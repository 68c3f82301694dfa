#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace concord {

/// Options that are given and change nothing in this run, each with what would make it count:
/// tolerances and limits of a step control that is not there, PETSc's tolerances beside the
/// coupling's own test.
std::vector<std::string> idle_options(const Settings& settings);

/// Throws InputError for -missiles_ options that neither we nor PETSc's objects with that prefix
/// know.
void refuse_unknown_missiles_options();

}  // namespace concord

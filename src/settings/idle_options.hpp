#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace concord {

/// Options that are given and change nothing in this run, each with what would make it count:
/// tolerances and limits of a step control that is not there, PETSc's tolerances beside the
/// coupling's own test.
std::vector<std::string> idle_options(const Settings& settings);

}  // namespace concord

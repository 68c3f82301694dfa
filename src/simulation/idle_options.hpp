#pragma once

#include "simulation/settings.hpp"

namespace concord {

/// Refuses what is given and would change nothing: tolerances and limits of a step control that is
/// not there, PETSc's tolerances beside the coupling's own test, unknown -missiles_ options. Throws
/// InputError.
void refuse_idle_options(const Settings& settings);

}  // namespace concord

#pragma once

#include "network/model.hpp"

namespace concord {

/// Throws InputError, with the nearest name and those allowed, for -cosim_ and -subsystem_ options
/// that the table doesn't have or that name a subsystem that isn't there.
void refuse_unknown_options(const Model& model);

/// Throws InputError for -missiles_ options that neither we nor PETSc's objects with that prefix
/// know.
void refuse_unknown_missiles_options();

}  // namespace concord

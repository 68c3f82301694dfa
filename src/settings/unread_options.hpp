#pragma once

#include <string>
#include <vector>

namespace concord {

/// Refuses options that neither Concord nor PETSc nor a loaded library reads, with the nearest
/// name. -cosim_, -subsystem_ and -missiles_ are not its business. Throws InputError.
void refuse_unread_options();

/// After a run: PETSc's options of solvers that no solver of the run has read.
std::vector<std::string> options_left_unread();

}  // namespace concord

#pragma once

namespace concord {

/// MPI and PETSc, where the process has not started them: alone, whatever launcher has started the
/// process, and up to its end, since others may use them from now on. Throws InputError where they
/// have ended already.
void need_libraries();

}  // namespace concord

#pragma once

#include <functional>

namespace concord {

/// Runs `work` on every rank inside an MPI and a PETSc session. Errors are printed once, with the
/// prefix `concord: error:`; returns the exit code of the contract.
int in_session(int argc, char** argv, const std::function<int()>& work);

/// Runs `work` without MPI, on the first of the processes that a launcher has started, with the
/// same treatment of errors.
int without_session(const std::function<int()>& work);

}  // namespace concord

#pragma once

#include <functional>
#include <string>

namespace concord {

/// Runs `work` on every rank inside an MPI and a PETSc session. Errors are printed once, with the
/// prefix `concord: error:`; returns the exit code of the contract.
int in_session(int argc, char** argv, const std::function<int()>& work);

/// Runs `work` without MPI, on the first of the processes that a launcher has started, with the
/// same treatment of errors.
int without_session(const std::function<int()>& work);

/// Runs `work` inside a program whose MPI and PETSc are up, with the options that the words say in
/// a database of their own. What goes wrong is thrown as InputError or SimulationError.
void inside_session(const std::vector<std::string>& words, const std::function<void()>& work);

}  // namespace concord

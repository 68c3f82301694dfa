#pragma once

#include <string>

#include "concord/program.hpp"
#include "network/model.hpp"

namespace concord {

/// `concord run`, after MPI and PETSc are up, on every rank: gives the exit code; wrong input is an
/// InputError.
int run_command(Model model, const std::string& command_line);

/// The same inside a program that goes on.
RunEnding run_in_manner(Model model, const std::string& command_line, const RunManner& manner);

/// The program's help, and that of options alone.
std::string program_help();
std::string options_help();

}  // namespace concord

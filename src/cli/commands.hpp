#pragma once

#include <string>

#include "cli/command.hpp"
#include "network/model.hpp"

namespace concord {

/// `concord run`, after MPI and PETSc are up, on every rank: gives the exit code; wrong input is an
/// InputError.
int run_command(Model model, const std::string& command_line);

/// The program's help, and that of options alone.
std::string program_help(HelpLength length);
std::string options_help(HelpLength length);

}  // namespace concord

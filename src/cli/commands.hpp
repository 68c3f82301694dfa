#pragma once

#include <span>
#include <string>

#include "network/model.hpp"

namespace concord {

/// The commands of `concord`, each returning the exit code; wrong input is an InputError.
/// run, check, schedule: after MPI and PETSc are up, on every rank.
int run_command(Model model, const std::string& command_line);
/// With `probe`, check also tries what the subsystems claim; of an FMU alone it shows what its
/// description says.
int check_command(Model model, bool probe, bool lone_fmu);
int schedule_command(Model model);

/// A subsystem or a whole model for other tools: on one rank.
int export_fmu_command(int argc, char** argv);
int export_ssp_command(int argc, char** argv);

/// The program's arguments as one line, for the results file.
std::string command_line_of(int argc, char** argv);

/// Help texts.
std::string program_help();
std::string run_help();
std::string export_fmu_help();
std::string export_ssp_help();

}  // namespace concord

#include "cli/commands.hpp"
#include "cli/fmu_words.hpp"
#include "settings/option_table.hpp"

namespace concord {
namespace {

constexpr std::size_t column = 34;

std::string padded(std::string text) {
  text.resize(std::max(column, text.size() + 1), ' ');
  return text;
}

std::string option_lines() {
  std::string text;
  for (const auto& option : option_table()) {
    std::string line = padded("  -" + option.name) + option.help;
    if (!option.allowed.empty()) {
      line += ": " + joined(option.allowed);
    }
    line += " (default " + option.default_value + (option.unit.empty() ? "" : ", unit ") +
            option.unit + ")";
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string program_help() {
  return "Concord: parallel implicit co-simulation.\n\n"
         "  mpirun -n R concord run MODEL [-options]    simulate; also runs without mpirun\n"
         "  concord check MODEL [--probe] [-options]    validate and explain a model; --probe "
         "tries\n"
         "                                              what its FMUs claim\n"
         "  concord schedule MODEL [-options]           groups, their costs and ranks\n"
         "  concord compare A.h5 B.h5 [--variables V]   error of A against B\n"
         "  concord export RESULT.h5 [--variables V] [-o out.csv]\n"
         "  concord plot RESULT.h5 [--variables V] [-o out.png]\n"
         "  concord export-fmu MODEL SUBSYSTEM [--fmi 2|3] [--no-binary] [-o FILE.fmu]\n"
         "                                              equations as an FMU\n"
         "  concord export-ssp MODEL [-o FILE.ssp]      a model of FMUs as SSP\n"
         "  concord COMMAND --help, concord --version\n\n"
         "MODEL is a YAML model file, an .ssp archive, an .ssd file, or one FMU. Exit codes: 0 "
         "done; 1 "
         "the\nsimulation failed; 2 the input is wrong; 3 stopped early by a signal or a time "
         "limit.\n\n"
         "Beside options, an FMU alone takes the words of FMI tools:\n" +
         fmu_words_help() +
         "\nOptions of run, check and schedule (PETSc options database: defaults, -options_file, "
         "command "
         "line):\n" +
         option_lines() + padded("  -subsystem_<name>_...") +
         "any -subsystem_ option for one subsystem\n" + padded("  -snes_*, -ksp_*, -pc_*") +
         "PETSc's options of the coupling solve\n" + padded("  -loop_snes_*, -loop_ksp_*") +
         "PETSc's options of algebraic loops at one point in time\n" +
         padded("  -log_view, -help, -options_left") + "PETSc's own\n";
}

std::string run_help() { return program_help(); }

}  // namespace concord

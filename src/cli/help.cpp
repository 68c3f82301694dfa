#include "cli/command.hpp"
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

std::string options_help() {
  return "Beside options, an FMU alone takes the words of FMI tools:\n" + fmu_words_help() +
         "\nOptions of run, check and schedule (PETSc options database: defaults, -options_file, "
         "command "
         "line):\n" +
         option_lines() + padded("  -subsystem_<name>_...") +
         "any -subsystem_ option for one subsystem\n" + padded("  -snes_*, -ksp_*, -pc_*") +
         "PETSc's options of the coupling solve\n" + padded("  -loop_snes_*, -loop_ksp_*") +
         "PETSc's options of algebraic loops at one point in time\n" +
         padded("  -log_view, -help, -options_left") + "PETSc's own\n";
}

std::string program_help() {
  return "Concord: parallel implicit co-simulation.\n\n" + command_lines() +
         "  concord COMMAND --help, concord help COMMAND, concord --version\n\n"
         "MODEL is a YAML model file, an .ssp archive, an .ssd file, or one FMU. Exit codes: 0 "
         "done; 1 "
         "the\nsimulation failed; 2 the input is wrong; 3 stopped early by a signal or a time "
         "limit.\n\n" +
         options_help();
}

}  // namespace concord

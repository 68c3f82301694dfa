#include <utility>

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

/// What most runs need, in words that fit a line.
constexpr std::pair<const char*, const char*> wanted_most[] = {
    {"-cosim_accuracy 1e-4", "largest error wanted, of each signal's range; chooses the rest"},
    {"-cosim_type jfm", "the method; concord check says which can run"},
    {"-cosim_step 1e-3", "macro-steps of this size, s, in place of an accuracy"},
    {"-cosim_stop 10", "stop time, s, in place of the model's; also -cosim_start"},
    {"-cosim_output out.h5", "results file (<model>.h5)"},
    {"-cosim_output_interval 0.01", "rows at these distances, s, in place of macro-steps"},
    {"-cosim_record_variables 'a.*'", "what is recorded (all)"},
    {"-cosim_checkpoint run.chk", "what a run goes on from: -cosim_restart auto"},
    {"-cosim_time_limit 01:30:00", "stops after so much wall time, with a checkpoint"},
    {"-subsystem_rtol 1e-9", "tolerance inside; -subsystem_NAME_rtol of one"},
};

std::string brief_options() {
  std::string text = "Options wanted most (--help-all has every one):\n";
  for (const auto& [option, meaning] : wanted_most) {
    text += padded(std::string("  ") + option) + meaning + "\n";
  }
  return text;
}

}  // namespace

std::string options_help(HelpLength length) {
  if (length == HelpLength::brief) return brief_options();
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

std::string program_help(HelpLength length) {
  if (length == HelpLength::brief) {
    return "Concord simulates systems of parts (equations, FMUs, C++, Python) that exchange "
           "outputs for\n"
           "inputs, on one core or many, and tells how far each result can be trusted.\n\n"
           "  concord new carts           a model file to begin with, carts.yaml\n"
           "  concord run carts.yaml      simulates it: a summary, and carts.h5\n"
           "  concord plot carts.h5       draws it: carts.png\n\n"
           "Commands:\n" +
           command_lines(length) +
           "\nMODEL is a YAML model file, an .ssp archive, an .ssd file, or one FMU.\n"
           "  concord COMMAND --help      what it takes, with an example\n"
           "  concord --help-all          all commands and every option; also COMMAND --help-all\n"
           "  concord --version\n";
  }
  return "Concord: parallel implicit co-simulation.\n\n" + command_lines(length) +
         "  concord COMMAND --help, concord COMMAND --help-all, concord help COMMAND, concord "
         "--version\n\n"
         "MODEL is a YAML model file, an .ssp archive, an .ssd file, or one FMU. Exit codes: 0 "
         "done; 1 "
         "the\nsimulation failed; 2 the input is wrong; 3 stopped early by a signal or a time "
         "limit.\n\n" +
         options_help(length);
}

}  // namespace concord

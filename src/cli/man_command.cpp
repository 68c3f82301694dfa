#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/fmu_words.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "files/text_output.hpp"
#include "settings/option_table.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int print_manual_pages(const Arguments& arguments);

const RegisteredCommand man({
    .name = "man",
    .place = 96,
    .usage = "[COMMAND] [--folder FOLDER]",
    .summary = "the manual page of a command, for man -l -",
    .description = "Prints the manual page of a command, or that of concord, as troff:\n"
                   "  concord man run | man -l -",
    .words = {{.name = "folder",
               .letter = 'f',
               .value = "FOLDER",
               .help = "writes all of them there instead: concord.1, concord-run.1, ..."}},
    .example = "man run | man -l -",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return print_manual_pages(arguments); });
        },
});

/// As text of troff: no hyphen becomes a dash, no line a request.
std::string troff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\(rs";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    line_begins = c == '\n';
  }
  return result;
}

/// In one line.
std::string joined_lines(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

std::string section(const char* name, const std::string& body) {
  return std::string(".SH ") + name + "\n" + body + (body.ends_with('\n') ? "" : "\n");
}

/// Lines as they are; paragraphs would run lists and examples together.
std::string as_written(const std::string& text) {
  return ".nf\n" + troff(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string item(const std::string& head, const std::string& text) {
  return ".TP\n.B " + troff(head) + "\n" + troff(text) + "\n";
}

std::string heading(const std::string& name) {
  return ".TH \"" + name + "\" 1 \"\" \"Concord " CONCORD_VERSION "\" \"Concord\"\n";
}

std::string word_item(const CommandWord& word) {
  std::string head;
  if (word.letter != 0) head += std::string("-") + word.letter + ", ";
  head += std::string("--") + word.name;
  if (*word.value != '\0') head += std::string(" ") + word.value;
  return item(head, joined_lines(word.help));
}

std::string option_items() {
  std::string text;
  for (const OptionSpec& option : option_table()) {
    std::string meaning = option.help;
    if (!option.allowed.empty()) meaning += ": " + joined(option.allowed);
    meaning += " (default " + option.default_value +
               (option.unit.empty() ? "" : ", unit " + option.unit) + ")";
    text += item("-" + option.name, meaning);
  }
  return text + item("-subsystem_<name>_...", "any -subsystem_ option for one subsystem") +
         item("-snes_*, -ksp_*, -pc_*", "PETSc's options of the coupling solve") +
         item("-log_view, -help, -options_left", "PETSc's own");
}

const char* const exit_codes =
    ".TP\n.B 0\ndone\n.TP\n.B 1\nthe simulation failed\n.TP\n.B 2\nthe input is wrong\n.TP\n.B 3\n"
    "stopped early by a signal or a time limit, after a checkpoint where one was wanted\n";

std::string page_name(const Command& command) { return std::string("concord-") + command.name; }

bool has_options(const Command& command) { return command.more_help != nullptr; }

std::string page_of(const Command& command) {
  const std::string call = std::string(command.launch) + "concord " + command.name;
  std::string options;
  for (const CommandWord& word : command.words) options += word_item(word);
  options += item("-h, --help", "a summary of this page");
  std::string page =
      heading(page_name(command)) +
      section("NAME", troff(page_name(command) + " - " + joined_lines(command.summary))) +
      section("SYNOPSIS", ".B " + troff(call) + "\n" + troff(command.usage)) +
      section("DESCRIPTION", as_written(command.description)) + section("OPTIONS", options);
  if (has_options(command) && std::string(command.name) == "run")
    page += section("SIMULATION OPTIONS",
                    "Options of the PETSc options database: defaults, then\n.BR \\-options_file ,\n"
                    "then the command line.\n" +
                        option_items()) +
            section("WORDS OF FMI TOOLS", "For an FMU alone:\n" + as_written(fmu_words_help()));
  else if (has_options(command))
    page += section("SIMULATION OPTIONS", "Those of\n.BR concord\\-run (1).\n");
  return page + section("EXIT STATUS", exit_codes) +
         section("EXAMPLES", as_written(std::string("concord ") + command.example)) +
         section("SEE ALSO", ".BR concord (1),\n.BR concord\\-run (1),\n.BR mpirun (1)\n");
}

std::string main_page() {
  std::string list;
  for (const Command* command : commands())
    list += ".TP\n.BR " + troff(page_name(*command)) + " (1)\n" +
            troff(joined_lines(command->summary)) + "\n";
  return heading("concord") + section("NAME", "concord \\- parallel implicit co\\-simulation") +
         section("SYNOPSIS",
                 ".B concord\nCOMMAND ...\n.br\n.B mpirun \\-n\nR\n.B concord run\nMODEL "
                 "[\\-options]\n") +
         section("DESCRIPTION",
                 "Simulates models whose parts are equations, C++ classes or FMUs, each integrated "
                 "on its\nown and coupled so that values and slopes agree. MODEL is a YAML model "
                 "file, an .ssp\narchive, an .ssd file, or one FMU.\n") +
         section("COMMANDS", list) + section("EXIT STATUS", exit_codes) +
         section("EXAMPLES", as_written("concord new carts\nconcord run carts.yaml\n"
                                        "concord plot carts.h5 -o carts.png")) +
         section("SEE ALSO", ".BR mpirun (1),\n.BR h5dump (1)\n");
}

void write_pages(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& name, const std::string& page) {
    TextOutput file((folder / (name + ".1")).string());
    file.write(page);
    file.close();
  };
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  write("concord", main_page());
  for (const Command* command : commands()) write(page_name(*command), page_of(*command));
}

int print_manual_pages(const Arguments& arguments) {
  const GivenWords given = read_words(man, after_name(arguments));
  const auto folder = given.value("folder");
  if (given.names.size() + (folder ? 1 : 0) > 1)
    refuse_words(man, "'concord man' takes one command, or --folder alone");
  if (folder) {
    write_pages(*folder);
    return 0;
  }
  const Command* command = given.names.empty() ? nullptr : find_command(given.names.front());
  if (!given.names.empty() && command == nullptr)
    refuse_words(man, "there is no command " + in_quotes(given.names.front()));
  std::fputs((command == nullptr ? main_page() : page_of(*command)).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace concord

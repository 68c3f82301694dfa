#include "cli/command_line.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

bool asks_for_all(const std::string& word) { return word == "--help-all"; }
bool is_help(const std::string& word) {
  return word == "--help" || word == "-h" || asks_for_all(word);
}

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

const Command& known_command(const std::string& name) {
  if (const Command* command = find_command(name)) return *command;
  std::vector<std::string> names;
  for (const Command* command : commands()) names.emplace_back(command->name);
  const auto similar = nearest(name, names);
  throw InputError("unknown command '" + name + "'" +
                   (similar ? "; did you mean '" + *similar + "'?" : ".") +
                   " Commands: " + joined(names) + "; see concord --help");
}

/// What needs no command to run.
int tell(const Arguments& arguments) {
  const std::string first = arguments.size() < 2 ? "" : arguments[1];
  if (first.empty()) {
    print(program_help(HelpLength::brief));
    throw InputError("no command given");
  }
  if (first == "--version") return print("concord " CONCORD_VERSION "\n");
  const HelpLength length = std::any_of(arguments.begin(), arguments.end(), asks_for_all)
                                ? HelpLength::whole
                                : HelpLength::brief;
  const bool asks = is_help(first) || first == "help";
  const std::string about = !asks ? first : arguments.size() < 3 ? "" : arguments[2];
  return print(about.empty() || is_help(about) ? program_help(length)
                                               : help_page(known_command(about), length));
}

}  // namespace

int command_line(int argc, char** argv) {
  const Arguments arguments(argv, argv + argc);
  const Command* command = argc < 2 ? nullptr : find_command(arguments[1]);
  const bool help = std::any_of(arguments.begin() + 1, arguments.end(), is_help);
  return command != nullptr && !help ? command->run(arguments)
                                     : without_session([&] { return tell(arguments); });
}

}  // namespace concord

#include <cstdio>
#include <string>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "settings/option_table.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int print_completion(const Arguments& arguments);

const RegisteredCommand completion({
    .name = "completion",
    .place = 95,
    .usage = "SHELL",
    .summary = "commands, words and options for the shell to\ncomplete",
    .description = "Prints what bash needs to complete commands, their words, options and options' "
                   "values:\n  source <(concord completion bash)\nin ~/.bashrc; zsh takes the same "
                   "after `autoload -U bashcompinit; bashcompinit`.",
    .example = "completion bash > /etc/bash_completion.d/concord",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return print_completion(arguments); });
        },
});

bool takes_options(const Command& command) {
  return std::string(command.usage).find("[-options]") != std::string::npos;
}

/// Of the command's own.
std::string own_words(const Command& command) {
  std::string words = "--help -h";
  if (command.more_help != nullptr) words += " --help-all";
  for (const CommandWord& word : command.words) {
    words += std::string(" --") + word.name;
    if (word.letter != 0) words += std::string(" -") + word.letter;
  }
  return words;
}

std::string script() {
  std::string names, options, values, words;
  for (const auto& option : option_table()) {
    options += " -" + option.name;
    if (!option.allowed.empty())
      values += "    -" + option.name + ") set=\"" + joined(option.allowed, " ") + "\" ;;\n";
  }
  for (const Command* command : commands()) {
    names += std::string(names.empty() ? "" : " ") + command->name;
    words += std::string("      ") + command->name + ") set=\"" + own_words(*command) +
             (takes_options(*command) ? " $options" : "") + "\" ;;\n";
  }
  return "_concord() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} set=\"\"\n"
         "  local options=\"" +
         options + "\"\n  case $before in\n" + values +
         "  esac\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    set=\"" +
         names +
         " help --help --version\"\n"
         "  elif [[ -z $set && $word == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         words +
         "    esac\n"
         "  fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$set\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _concord concord\n";
}

int print_completion(const Arguments& arguments) {
  const GivenWords given = read_words(completion, after_name(arguments));
  if (given.names.size() != 1 || given.names.front() != "bash")
    refuse_words(completion,
                 "'concord completion' takes the name of a shell: bash" +
                     (given.names.empty() ? "" : ", not " + in_quotes(given.names.front())));
  std::fputs(script().c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace concord

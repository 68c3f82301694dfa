#include "cli/command.hpp"

#include <getopt.h>

#include <algorithm>

#include "concord/errors.hpp"

namespace concord {
namespace {

constexpr std::size_t summary_column = 46, word_column = 25, brief_column = 14, longest_line = 90;

std::vector<const Command*>& registered() {
  static std::vector<const Command*> all;
  return all;
}

/// The lines of `text` from `column` on, after `head`, which has a line of its own where it is
/// long.
std::string beside(std::string head, const std::string& text, std::size_t column) {
  if (head.size() + 2 > column) head += "\n" + std::string(column, ' ');
  if (head.size() < column) head.resize(column, ' ');
  for (const char c : text) {
    head += c;
    if (c == '\n') head += std::string(column, ' ');
  }
  return head + "\n";
}

std::string call_of(const Command& command) {
  return command.launch + std::string("concord ") + command.name + " " + command.usage;
}

std::string word_line(const CommandWord& word) {
  std::string head = "  ";
  if (word.letter != 0) head += std::string("-") + word.letter + ", ";
  head += std::string("--") + word.name;
  if (*word.value != '\0') head += std::string(" ") + word.value;
  return beside(head, word.help, word_column);
}

/// What getopt_long wants; `index` in the command's words is what it returns, from 256 on.
struct Known {
  explicit Known(const Command& command) {
    int index = first_index;
    for (const CommandWord& word : command.words) {
      const bool valued = *word.value != '\0';
      options.push_back({word.name, valued ? required_argument : no_argument, nullptr, index++});
      if (word.letter != 0) letters += word.letter + std::string(valued ? ":" : "");
    }
    options.push_back({nullptr, 0, nullptr, 0});
  }
  static const CommandWord* found(const Command& command, int option) {
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      const CommandWord& word = command.words[i];
      if (option == first_index + static_cast<int>(i) ||
          (word.letter != 0 && option == word.letter))
        return &word;
    }
    return nullptr;
  }

  static constexpr int first_index = 256;  // beyond letters
  std::vector<option> options;
  std::string letters = ":";
};

}  // namespace

RegisteredCommand::RegisteredCommand(Command command) : command_(std::move(command)) {
  registered().push_back(&command_);
}

std::vector<const Command*> commands() {
  std::vector<const Command*> all = registered();
  std::sort(all.begin(), all.end(),
            [](const Command* a, const Command* b) { return a->place < b->place; });
  return all;
}

const Command* find_command(const std::string& name) {
  const auto& all = registered();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Command* command) { return name == command->name; });
  return found == all.end() ? nullptr : *found;
}

std::string command_lines(HelpLength length) {
  std::string text;
  std::vector<std::string> others;
  for (const Command* command : commands()) {
    if (length == HelpLength::whole)
      text += beside("  " + call_of(*command), command->summary, summary_column);
    else if (command->brief != nullptr)
      text += beside(std::string("  ") + command->name, command->brief, brief_column);
    else
      others.emplace_back(command->name);
  }
  if (others.empty()) return text;
  std::string line = "  and ";
  for (const std::string& other : others) {
    if (line.size() + other.size() > longest_line) {
      text += line + "\n";
      line = "      ";
    }
    line += other + (&other == &others.back() ? "\n" : ", ");
  }
  return text + line;
}

std::string help_page(const Command& command, HelpLength length) {
  const std::string call = call_of(command);
  std::string text = call.substr(call.find("concord ")) + "\n\n" + command.description + "\n\n";
  for (const CommandWord& word : command.words) text += word_line(word);
  text += beside("  -h, --help", "this text", word_column);
  if (command.more_help != nullptr)
    text += beside("  --help-all", "with every option", word_column);
  text += std::string("\nExample: concord ") + command.example + "\n";
  return command.more_help == nullptr ? text : text + "\n" + command.more_help(length);
}

std::optional<std::string> GivenWords::value(const std::string& name) const {
  const auto found = words.find(name);
  return found == words.end() ? std::nullopt : std::optional(found->second.back());
}

void refuse_words(const Command& command, const std::string& problem) {
  throw InputError(problem + "; see 'concord " + command.name + " --help'");
}

GivenWords read_words(const Command& command, std::span<const std::string> arguments) {
  const std::string call = std::string("concord ") + command.name;
  std::vector<std::string> texts{call};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(texts.size());
  const Known known(command);
  GivenWords result;
  optind = 0;  // glibc: start anew
  opterr = 0;
  for (;;) {
    const int option =
        getopt_long(argc, argv.data(), known.letters.c_str(), known.options.data(), nullptr);
    if (option == -1) break;
    const std::string text = argv[static_cast<std::size_t>(std::max(optind - 1, 1))];
    const CommandWord* word = Known::found(command, option);
    if (word != nullptr)
      result.words[word->name].emplace_back(optarg == nullptr ? "" : optarg);
    else if (option == ':')
      refuse_words(command, "option '" + text + "' of '" + call + "' needs a value");
    else
      refuse_words(command, "'" + call + "' has no option '" + text + "'");
  }
  result.names.assign(argv.begin() + optind, argv.end() - 1);
  return result;
}

}  // namespace concord

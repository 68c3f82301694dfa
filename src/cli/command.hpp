#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// What --help has, which fits a screen, and what --help-all has.
enum class HelpLength { brief, whole };

/// A word of a command's own, beside PETSc's options: --output FILE, -o FILE.
struct CommandWord {
  const char* name;        ///< "output", without dashes
  char letter = 0;         ///< the same as one letter, or none
  const char* value = "";  ///< as the help shows it; empty: takes none
  const char* help = "";   ///< lines
};

/// All of a program's arguments, its own name first.
using Arguments = std::vector<std::string>;

/// argv of a program that outlives the session, as PETSc wants it.
class ProgramArguments {
 public:
  explicit ProgramArguments(Arguments words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  int count() const { return static_cast<int>(words_.size()); }
  char** pointers() { return pointers_.data(); }

 private:
  Arguments words_;
  std::vector<char*> pointers_;
};

/// A command of `concord`. Everything about it is said once, in the file that has its function:
/// dispatch, help, what words it takes and what a wrong one was meant to be follow from it.
struct Command {
  const char* name;
  int place;                    ///< among the others in the help
  const char* launch = "";      ///< what goes before `concord`
  const char* usage;            ///< what follows the name: "RESULT.h5 [-o out.csv]"
  const char* summary;          ///< lines of the program's whole help
  const char* brief = nullptr;  ///< its line in the first help; without it, it is named there only
  const char* description;      ///< lines of its own help
  std::vector<CommandWord> words = {};
  const char* more = nullptr;  ///< the word of `words` that what follows MODEL are values of
  const char* example;         ///< words after `concord`
  std::string (*more_help)(HelpLength length) = nullptr;
  int (*run)(const Arguments& arguments);  ///< gives the exit code
};

/// Puts a command among the others. The library is a shared one of all its objects, so that none
/// of these is left out by a linker, though nobody names it.
class RegisteredCommand {
 public:
  explicit RegisteredCommand(Command command);
  RegisteredCommand(const RegisteredCommand&) = delete;
  RegisteredCommand& operator=(const RegisteredCommand&) = delete;
  operator const Command&() const { return command_; }

 private:
  Command command_;
};

/// In the order of the help.
std::vector<const Command*> commands();
const Command* find_command(const std::string& name);

/// A line per command that is used most, and the names of the others; or a line or two for each.
std::string command_lines(HelpLength length);
std::string help_page(const Command& command, HelpLength length);

/// The words of a command that takes none of PETSc's options.
struct GivenWords {
  std::vector<std::string> names;                         ///< what is no word of the command's own
  std::map<std::string, std::vector<std::string>> words;  ///< by name; "" for those without value

  bool has(const std::string& name) const { return words.contains(name); }
  /// The last one.
  std::optional<std::string> value(const std::string& name) const;
  /// All, in the order in which they were given.
  std::vector<std::string> all(const std::string& name) const {
    const auto found = words.find(name);
    return found == words.end() ? std::vector<std::string>{} : found->second;
  }
};

/// Throws InputError for a word that the command does not have, or whose value is missing.
/// `arguments`: those after the command's name.
GivenWords read_words(const Command& command, std::span<const std::string> arguments);

/// InputError with a hint to the command's help.
[[noreturn]] void refuse_words(const Command& command, const std::string& problem);

/// The arguments behind the command's name.
inline std::span<const std::string> after_name(const Arguments& arguments) {
  return std::span(arguments).subspan(2);
}

}  // namespace concord

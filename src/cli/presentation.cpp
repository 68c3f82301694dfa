#include "cli/presentation.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "files/python_place.hpp"
#include "files/text_file.hpp"
#include "subsystem/python/python_code.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// The interpreter, as it was built with one, and the script with these words.
std::vector<std::string> python_call(std::vector<std::string> words) {
  std::error_code error;
  const std::string built = python_place::interpreter;
  const fs::path package = python_module_file("pictures and reports").parent_path();
  words.insert(words.begin(), {python_interpreter(fs::exists(built, error) ? built : "python3"),
                               (package / "_command.py").string()});
  return words;
}

[[noreturn]] void fail_without(const std::string& interpreter) {
  throw InputError("pictures and reports need Python, and there is no " + interpreter +
                   ": install it (Debian: apt-get install python3), or name an interpreter with "
                   "CONCORD_PYTHON; 'concord export' needs none");
}

/// A file that is gone when it is closed.
class PassingFile {
 public:
  PassingFile() : name_((fs::temp_directory_path() / "concord-drawing-XXXXXX").string()) {
    file_ = mkstemp(name_.data());
    if (file_ < 0)
      throw InputError("cannot make a temporary file in " + fs::temp_directory_path().string() +
                       ": " + std::strerror(errno) + "; TMPDIR may name another folder");
  }
  ~PassingFile() {
    close(file_);
    std::error_code error;
    fs::remove(name_, error);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  const std::string& name() const { return name_; }
  int descriptor() const { return file_; }

 private:
  std::string name_;
  int file_ = -1;
};

/// Throws InputError with what the script says where it fails.
void run_script(const std::vector<std::string>& words, int input) {
  constexpr std::string_view prefix = "concord: error: ";
  const PassingFile said;
  const auto call = python_call(words);
  int code = 0;
  try {
    code = run_program({.words = call, .input = input, .output = said.name()});
  } catch (const std::system_error&) {
    fail_without(call.front());
  }
  if (code == 0) return;
  const std::string text = read_text_file(said.name(), "what was said");
  const auto begin = text.rfind(prefix);
  throw InputError(begin == text.npos ? "the picture could not be drawn: " + call.front() +
                                            " has ended with exit code " + std::to_string(code)
                                      : text.substr(begin + prefix.size()));
}

}  // namespace

void go_on_in_python(const Command& command, const GivenWords& given) {
  std::vector<std::string> words{command.name};
  for (const auto& [name, values] : given.words)
    for (const std::string& value : values) words.push_back("--" + name + "=" + value);
  words.emplace_back("--");
  words.insert(words.end(), given.names.begin(), given.names.end());
  ProgramArguments call(python_call(std::move(words)));
  std::fflush(stdout);
  execvp(call.pointers()[0], call.pointers());
  fail_without(call.pointers()[0]);
}

void require_drawing(const std::vector<std::string>& pictures) {
  std::vector<std::string> words{"ready"};
  for (const std::string& picture : pictures) words.push_back("--output=" + picture);
  words.emplace_back("--");
  run_script(words, -1);
}

void draw_in_python(const std::string& kind, const nlohmann::json& data, const fs::path& picture) {
  const PassingFile file;
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (write(file.descriptor(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(file.descriptor(), 0, SEEK_SET) != 0)
    throw InputError("cannot write what is to be drawn to a temporary file: " +
                     std::string(std::strerror(errno)));
  run_script({kind, "--output=" + picture.string(), "--"}, file.descriptor());
}

}  // namespace concord

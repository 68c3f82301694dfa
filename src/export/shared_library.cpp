#include "export/shared_library.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "files/program.hpp"
#include "support/options.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

/// The words of an environment variable.
std::vector<std::string> words_in(const char* variable) {
  const char* chosen = std::getenv(variable);
  std::istringstream stream(chosen == nullptr ? "" : chosen);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// $CC, which may hold options ("ccache gcc"), or cc.
std::vector<std::string> compiler() {
  const auto words = words_in("CC");
  return words.empty() ? std::vector<std::string>{"cc"} : words;
}

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

Compilation compile_shared_library(const fs::path& source, const fs::path& target) {
  Compilation result;
  std::vector<std::string> words = compiler();
  result.compiler = joined(words, " ");
  words.insert(words.end(), {"-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"});
  const auto flags = words_in("CFLAGS");
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"-o", target.string(), source.string(), "-lm"});
  const fs::path messages = target.string() + ".log";
  try {
    const int code = run_program({.words = words, .output = messages});
    if (code != 0 || !fs::exists(target)) result.outcome = Compilation::Outcome::failed;
    result.messages = content(messages);
  } catch (const std::system_error&) {
    result.outcome = Compilation::Outcome::no_compiler;
  }
  return result;
}

}  // namespace concord

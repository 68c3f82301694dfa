#include "subsystem/fmu/emulated/host_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && *cache == '/')
    folder = cache;
  else if (home != nullptr && *home == '/')
    folder = fs::path(home) / ".cache";
  std::error_code error;
  folder /= "concord";
  fs::create_directories(folder, error);
  if (!folder.is_absolute() || error)
    throw InputError("the folder for programs that run FMUs of other platforms, " +
                     in_quotes(folder.string()) +
                     ", cannot be made; set XDG_CACHE_HOME, or give -subsystem_fmu_host");
  return folder;
}

/// Of this source by this compiler.
std::string name_of_program(const Emulation& emulation) {
  const std::string made_from = joined(emulation.compiler, " ") + fmu_host_source;
  return "fmu_host_" + emulation.platform.folders.front() + "_" +
         std::to_string(std::hash<std::string>()(made_from)) +
         (emulation.platform.is_windows() ? ".exe" : "");
}

std::string first_lines_of(const fs::path& path) {
  constexpr std::size_t most = 600;
  std::ifstream stream(path);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.size() > most) text.resize(most);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void compile(const Emulation& emulation, const fs::path& source, const fs::path& target) {
  std::ofstream(source) << fmu_host_source;
  std::vector<std::string> words = emulation.compiler;
  words.insert(words.end(), {"-std=c99", "-O2", "-w", "-o", target.string(), source.string()});
  if (emulation.platform.is_windows())
    words.push_back("-static");
  else
    words.insert(words.end(), {"-ldl", "-pthread"});
  const fs::path messages = target.string() + ".log";
  int code = 0;
  try {
    code = run_program({.words = words, .output = messages});
  } catch (const std::system_error& error) {
    throw InputError(error.what());
  }
  const std::string told = first_lines_of(messages);
  std::error_code ignored;
  fs::remove(messages, ignored);
  if (code != 0 || !fs::exists(target))
    throw InputError("the program that runs FMUs of " + emulation.platform.name +
                     " cannot be compiled with '" + joined(emulation.compiler, " ") + "': " + told +
                     "; install the Debian packages " + emulation.platform.packages +
                     ", or give it with -subsystem_fmu_host");
}

}  // namespace

/// Whoever else makes it at the same time makes it whole under a name of his own.
fs::path fmu_host_program(const Emulation& emulation) {
  std::error_code error;
  if (!emulation.host.empty()) {
    if (fs::is_regular_file(emulation.host, error)) return fs::absolute(emulation.host);
    throw InputError("-subsystem_fmu_host: there is no program " +
                     in_quotes(emulation.host.string()));
  }
  const fs::path program = cache_folder() / name_of_program(emulation);
  if (fs::exists(program, error)) return program;
  const std::string own = program.string() + "." + std::to_string(getpid());
  const fs::path source = own + ".c", target = own + ".new";
  try {
    compile(emulation, source, target);
  } catch (...) {
    fs::remove(source, error);
    throw;
  }
  fs::remove(source, error);
  fs::rename(target, program, error);
  if (error) throw InputError(program.string() + " cannot be made: " + error.message());
  return program;
}

}  // namespace concord

#include "subsystem/fmu/emulated/platforms.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>

#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr const char* own_platform = "Linux (x86_64)";
#elif defined(__aarch64__)
constexpr const char* own_platform = "Linux (aarch64)";
#else
constexpr const char* own_platform = "Linux (i686)";
#endif

/// Under either name of Debian's packages.
std::vector<std::string> qemu(const std::string& machine, const std::string& root) {
  const std::string name = "qemu-" + machine, there = " -L " + root;
  return {name + there, name + "-static" + there};
}

/// What runs fastest comes first.
std::span<const Platform> platforms() {
  static const std::vector<Platform> all{
      {.name = "Linux (i686)",
       .folders = {"linux32", "x86-linux"},
       .emulators = {},
       .compilers = {"gcc -m32 -idirafter /usr/include/x86_64-linux-gnu", "i686-linux-gnu-gcc"},
       .packages = "gcc-multilib",
       .needed = "/lib/ld-linux.so.2"},
      {.name = "Linux (x86_64)",
       .folders = {"linux64", "x86_64-linux"},
       .emulators = qemu("x86_64", "/usr/x86_64-linux-gnu"),
       .compilers = {"x86_64-linux-gnu-gcc"},
       .packages = "qemu-user gcc-x86-64-linux-gnu libc6-dev-amd64-cross"},
      {.name = "Linux (aarch64)",
       .folders = {"aarch64-linux", "linux-aarch64", "linuxaarch64"},
       .emulators = qemu("aarch64", "/usr/aarch64-linux-gnu"),
       .compilers = {"aarch64-linux-gnu-gcc"},
       .packages = "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
      {.name = "Windows (x86_64)",
       .folders = {"win64", "x86_64-windows"},
       .suffix = ".dll",
       .emulators = {"wine64", "wine"},
       .compilers = {"x86_64-w64-mingw32-gcc"},
       .packages = "wine wine64 gcc-mingw-w64-x86-64"},
      {.name = "Linux (arm)",
       .folders = {"aarch32-linux", "linux-armhf", "linux-arm", "armhf-linux"},
       .emulators = qemu("arm", "/usr/arm-linux-gnueabihf"),
       .compilers = {"arm-linux-gnueabihf-gcc"},
       .packages = "qemu-user gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"},
      {.name = "Linux (riscv64)",
       .folders = {"riscv64-linux", "linux-riscv64"},
       .emulators = qemu("riscv64", "/usr/riscv64-linux-gnu"),
       .compilers = {"riscv64-linux-gnu-gcc"},
       .packages = "qemu-user gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"},
      {.name = "Windows (x86)",
       .folders = {"win32", "x86-windows"},
       .suffix = ".dll",
       .emulators = {"wine"},
       .compilers = {"i686-w64-mingw32-gcc"},
       .packages = "wine wine32:i386 gcc-mingw-w64-i686"},
  };
  return all;
}

Platform unknown_platform(const std::string& folder, const std::string& suffix) {
  Platform platform;
  platform.name = folder;
  platform.suffix = suffix;
  return platform;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// Whether the first word of a command is there.
bool is_there(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  if (command.front().find('/') != std::string::npos) return is_program(command.front());
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(fs::path(folder) / command.front())) return true;
  return false;
}

/// The first of them that is there, or nothing.
std::optional<std::vector<std::string>> first_there(const std::vector<std::string>& commands) {
  for (const std::string& command : commands)
    if (auto found = words(command); is_there(found)) return found;
  return std::nullopt;
}

/// Of binaries that the FMU has and somebody might run.
struct Candidate {
  std::string folder;
  fs::path binary;
  Platform platform;
};

/// A folder that nobody knows is run by what the options name.
std::vector<Candidate> candidates(const fs::path& binaries, const std::string& identifier,
                                  const EmulationChoice& choice) {
  std::vector<Candidate> found;
  bool known = false;
  for (const Platform& platform : platforms()) {
    if (platform.name == own_platform) continue;
    for (const std::string& folder : platform.folders) {
      if (!choice.folder.empty() && folder != choice.folder) continue;
      known = true;
      fs::path binary = shared_library_in(binaries / folder, identifier, platform.suffix);
      if (!binary.empty()) found.push_back({folder, std::move(binary), platform});
    }
  }
  if (known || !choice.is_whole()) return found;
  for (const char* suffix : {".so", ".dll"})
    if (fs::path binary = shared_library_in(binaries / choice.folder, identifier, suffix);
        found.empty() && !binary.empty())
      found.push_back({choice.folder, binary, unknown_platform(choice.folder, suffix)});
  return found;
}

std::optional<Emulation> emulation_of(const Candidate& candidate, const EmulationChoice& choice) {
  const Platform& platform = candidate.platform;
  Emulation result{candidate.folder, candidate.binary, platform, words(choice.emulator),
                   choice.host};
  std::error_code error;
  if (choice.emulator.empty()) {
    const auto emulator = first_there(platform.emulators);
    if (!emulator && !platform.emulators.empty()) return std::nullopt;
    if (!platform.needed.empty() && !fs::exists(platform.needed, error)) return std::nullopt;
    result.emulator = emulator.value_or(std::vector<std::string>());
  }
  if (choice.host.empty()) {
    const auto compiler = first_there(platform.compilers);
    if (!compiler) return std::nullopt;
    result.compiler = *compiler;
  }
  return result;
}

}  // namespace

fs::path shared_library_in(const fs::path& folder, const std::string& identifier,
                           const std::string& suffix) {
  std::error_code error;
  if (fs::is_regular_file(folder / (identifier + suffix), error))
    return folder / (identifier + suffix);
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == suffix && entry.is_regular_file(error))
      found.push_back(entry.path());
  return found.size() == 1 ? found.front() : fs::path();
}

Emulation given_emulation(const std::string& folder, fs::path binary,
                          const EmulationChoice& choice) {
  const std::string suffix = binary.extension().string();
  return {folder, std::move(binary), unknown_platform(folder, suffix), words(choice.emulator),
          choice.host};
}

std::optional<Emulation> emulation_of(const fs::path& binaries, const std::string& identifier,
                                      const EmulationChoice& choice) {
  for (const Candidate& candidate : candidates(binaries, identifier, choice))
    if (auto found = emulation_of(candidate, choice)) return found;
  return std::nullopt;
}

std::string missing_for_emulation(const fs::path& binaries, const std::string& identifier,
                                  const EmulationChoice& choice) {
  std::vector<std::string> ways;
  for (const Candidate& candidate : candidates(binaries, identifier, choice))
    ways.push_back("that for " + candidate.folder + " runs here where the Debian packages " +
                   candidate.platform.packages + " are installed");
  return joined(ways, ", ");
}

}  // namespace concord

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace concord {

/// A platform whose programs another program, or the kernel, runs here.
struct Platform {
  std::string name;                    ///< "Windows (x86_64)"
  std::vector<std::string> folders;    ///< below binaries/, in FMI 1 to 3 and in use
  std::string suffix = ".so";          ///< of shared libraries
  std::vector<std::string> emulators;  ///< commands, of which the first that is there is used
  std::vector<std::string> compilers;  ///< the same
  std::string packages;                ///< of Debian, with both
  std::filesystem::path needed{};      ///< a file without which nothing of it runs
  bool is_windows() const { return suffix == ".dll"; }
};

/// How a binary of another platform is run.
struct Emulation {
  std::string folder;  ///< below binaries/
  std::filesystem::path binary;
  Platform platform;
  std::vector<std::string> emulator;  ///< words; empty: the kernel runs it
  std::filesystem::path host{};       ///< a program that was given; empty: it is to be compiled
  std::vector<std::string> compiler{};
};

/// What the options say of it; empty: whatever is there.
struct EmulationChoice {
  std::string folder, emulator, host;

  bool is_whole() const { return !folder.empty() && !emulator.empty() && !host.empty(); }
};

/// As the options have it, which name everything.
Emulation given_emulation(const std::string& folder, std::filesystem::path binary,
                          const EmulationChoice& choice);

/// The shared library in `folder`: that which is named like the identifier, or the only one there;
/// empty where there is none or no telling which.
std::filesystem::path shared_library_in(const std::filesystem::path& folder,
                                        const std::string& identifier, const std::string& suffix);

/// Of an unpacked FMU: the first binary that can be run here. Nothing: none.
std::optional<Emulation> emulation_of(const std::filesystem::path& binaries,
                                      const std::string& identifier, const EmulationChoice& choice);

/// "one for win64 runs where ... is installed (apt install ...)"; empty: no emulator is known for
/// any binary that is there.
std::string missing_for_emulation(const std::filesystem::path& binaries,
                                  const std::string& identifier, const EmulationChoice& choice);

}  // namespace concord

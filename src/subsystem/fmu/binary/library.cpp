#include "subsystem/fmu/binary/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/fmu/binary/emulated_functions.hpp"
#include "subsystem/fmu/emulated/host_program.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

std::string platforms_in(const fs::path& binaries) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(binaries, error))
    names.push_back(entry.path().filename().string());
  return names.empty() ? "it has none at all" : "it has those for " + joined(names);
}

EmulationChoice choice_of(const FmuOptions& options) {
  return {options.platform, options.emulator, options.host};
}

bool is_ours(const std::string& platform) {
  return platform == platform_folder(FmiVersion::v2) || platform == platform_folder(FmiVersion::v3);
}

/// What there is in the folder of the platform that is wanted.
std::string binaries_in_words(const fs::path& binaries, const std::string& platform) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(binaries / platform, error))
    if (entry.path().extension() == ".so" && entry.is_regular_file(error))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names.empty() ? platforms_in(binaries)
                       : "there are " + joined(names) + ", and which one is meant is not known";
}

[[noreturn]] void refuse_platforms(const fs::path& binaries, const std::string& fmu,
                                   FmiVersion version, const std::string& identifier,
                                   const FmuOptions& options) {
  const std::string& wanted = options.platform;
  const std::string own = platform_folder(version);
  const std::string platform = wanted.empty() || is_ours(wanted) ? own : wanted;
  const std::string ways = missing_for_emulation(binaries, identifier, choice_of(options));
  throw InputError(fmu + ": has no binary for " +
                   (platform == own ? "this platform" : "the platform " + in_quotes(platform)) +
                   " (binaries/" + platform + "/" + identifier + ") that can run here; " +
                   binaries_in_words(binaries, platform) + (ways.empty() ? "" : "; " + ways) +
                   "; export the FMU for Linux, compile its sources, or serve it from a machine "
                   "for which there is one and on which Concord runs (concord serve)");
}

std::shared_ptr<EmulatedBinary> start_emulation(const Emulation& emulation, const std::string& fmu,
                                                FmiVersion version, const FmiInterface& interface) {
  const std::string prefix =
      version == FmiVersion::v1 ? interface.model_identifier + "_" : std::string();
  const std::string what = fmu + ": its binary for " + emulation.folder;
  try {
    return std::make_shared<EmulatedBinary>(emulation, prefix, !interface.only_once_per_process);
  } catch (const InputError& error) {
    throw InputError(what + " cannot be loaded: " + error.what());
  } catch (const EmulationEnd& end) {
    throw InputError(what + " cannot be loaded: the process that is to run it (" +
                     joined(emulation.emulator, " ") + " " + fmu_host_program(emulation).string() +
                     ") " + end.what() +
                     "; -subsystem_fmu_emulator and -subsystem_fmu_host name what runs it; without "
                     "the latter the program is compiled again where its file is gone");
  }
}

}  // namespace

/// What an FMU brings along (SUNDIALS, LAPACK, a C++ runtime) comes before what this program has of
/// the same name. Sanitizers cannot do that.
#if defined(__SANITIZE_ADDRESS__)
constexpr int how_to_load = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int how_to_load = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

const char* platform_folder(FmiVersion version) {
#if defined(__x86_64__)
  return version == FmiVersion::v3 ? "x86_64-linux" : "linux64";
#elif defined(__aarch64__)
  return version == FmiVersion::v3 ? "aarch64-linux" : "linux-aarch64";
#else
  return version == FmiVersion::v3 ? "x86-linux" : "linux32";
#endif
}

/// One of this platform goes to a process of its own where emulator and host are named for it.
FmuBinary binary_in(const fs::path& folder, FmiVersion version, const std::string& identifier,
                    const FmuOptions& options) {
  const fs::path binaries = folder / "binaries";
  const EmulationChoice choice = choice_of(options);
  if (choice.folder.empty() || is_ours(choice.folder)) {
    const std::string own = platform_folder(version);
    fs::path found = shared_library_in(binaries / own, identifier, ".so");
    if (!found.empty() && choice.is_whole()) return {found, given_emulation(own, found, choice)};
    if (!found.empty() || !choice.folder.empty()) return {std::move(found), std::nullopt};
  }
  auto emulation = emulation_of(binaries, identifier, choice);
  const fs::path path = emulation ? emulation->binary : fs::path();
  return {path, std::move(emulation)};
}

std::shared_ptr<FmuLibrary> FmuLibrary::open(const fs::path& folder, const std::string& fmu,
                                             FmiVersion version, const FmiInterface& interface,
                                             const FmuOptions& options) {
  static std::map<std::string, std::shared_ptr<FmuLibrary>> opened;
  const auto [path, emulation] = binary_in(folder, version, interface.model_identifier, options);
  if (path.empty())
    refuse_platforms(folder / "binaries", fmu, version, interface.model_identifier, options);
  std::string key = path.string();
  if (emulation) key += "\n" + joined(emulation->emulator, " ") + "\n" + emulation->host.string();
  std::shared_ptr<FmuLibrary>& library = opened[key];
  if (!library && emulation) {
    library.reset(new FmuLibrary(fmu, start_emulation(*emulation, fmu, version, interface)));
  } else if (!library) {
    void* handle = nullptr;
    {
      watch_foreign_code();
      const ForeignPlace place{"the FMU", "", fmu.c_str()};
      const ForeignCall running(place, "loading its binary");
      handle = dlopen(path.c_str(), how_to_load);
    }
    if (handle == nullptr) {
      const char* reason = dlerror();
      throw InputError(fmu + ": its binary cannot be loaded: " +
                       (reason == nullptr ? "unknown reason" : reason) +
                       "; install what is missing, or name its folder in LD_LIBRARY_PATH");
    }
    library.reset(new FmuLibrary(fmu, handle));
  }
  return library;
}

void* FmuLibrary::find(const std::string& name) const {
  if (!emulated_) return dlsym(handle_, name.c_str());
  const std::string& prefix = emulated_->prefix();
  const std::string plain = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  try {
    void* const function = emulated_function(plain);
    return function != nullptr && emulated_->has(plain) ? function : nullptr;
  } catch (const EmulationEnd& end) {
    throw SimulationError("the FMU " + fmu_ + " " + end.what() + ", before it was instantiated");
  }
}

void* FmuLibrary::symbol(const std::string& name) const {
  void* found = find(name);
  if (found == nullptr)
    throw InputError(fmu_ + ": its binary lacks the function " + name +
                     ", which the capabilities in modelDescription.xml call for; the FMU is "
                     "incomplete");
  return found;
}

}  // namespace concord

#include "subsystem/fmu/binary/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <vector>

#include "concord/errors.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"

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

std::vector<fs::path> shared_libraries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".so" && entry.is_regular_file(error))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string names_of(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return joined(names);
}

fs::path binary(const fs::path& folder, const std::string& fmu, FmiVersion version,
                const std::string& identifier) {
  const fs::path path = binary_in(folder, version, identifier);
  if (!path.empty()) return path;
  const std::string place = std::string("binaries/") + platform_folder(version);
  const auto others = shared_libraries_in(folder / place);
  throw InputError(
      fmu + ": has no binary for this platform (" + place + "/" + identifier + ".so); " +
      (others.empty() ? platforms_in(folder / "binaries")
                      : "there are " + names_of(others) + ", and which one is meant is not known") +
      "; export the FMU for Linux, compile its sources, or serve it from a machine for which there "
      "is one and on which Concord runs (concord serve)");
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

fs::path binary_in(const fs::path& folder, FmiVersion version, const std::string& identifier) {
  const fs::path place = folder / "binaries" / platform_folder(version);
  std::error_code error;
  if (fs::is_regular_file(place / (identifier + ".so"), error)) return place / (identifier + ".so");
  const auto others = shared_libraries_in(place);
  return others.size() == 1 ? others.front() : fs::path();
}

std::shared_ptr<FmuLibrary> FmuLibrary::open(const fs::path& folder, const std::string& fmu,
                                             FmiVersion version, const FmiInterface& interface) {
  static std::map<fs::path, std::shared_ptr<FmuLibrary>> opened;
  const fs::path path = binary(folder, fmu, version, interface.model_identifier);
  std::shared_ptr<FmuLibrary>& library = opened[path];
  if (!library) {
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

void* FmuLibrary::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void* FmuLibrary::symbol(const std::string& name) const {
  void* found = find(name);
  if (found == nullptr)
    throw InputError(fmu_ + ": its binary lacks the function " + name +
                     ", which the capabilities in modelDescription.xml call for; the FMU is "
                     "incomplete");
  return found;
}

}  // namespace concord

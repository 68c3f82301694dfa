#include "subsystem/fmu/library.hpp"

#include <dlfcn.h>

#include <map>
#include <vector>

#include "concord/errors.hpp"
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

fs::path binary(const fs::path& folder, const std::string& fmu, FmiVersion version,
                const std::string& identifier) {
  const fs::path binaries = folder / "binaries";
  const fs::path path = binaries / platform_folder(version) / (identifier + ".so");
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw InputError(fmu + ": has no binary for this platform (binaries/" +
                     platform_folder(version) + "/" + identifier + ".so); " +
                     platforms_in(binaries) + "; export the FMU for Linux, or compile its sources");
  return path;
}

}  // namespace

const char* platform_folder(FmiVersion version) {
#if defined(__x86_64__)
  return version == FmiVersion::v2 ? "linux64" : "x86_64-linux";
#elif defined(__aarch64__)
  return version == FmiVersion::v2 ? "linux-aarch64" : "aarch64-linux";
#else
  return version == FmiVersion::v2 ? "linux32" : "x86-linux";
#endif
}

std::shared_ptr<FmuLibrary> FmuLibrary::open(const fs::path& folder, const std::string& fmu,
                                             FmiVersion version, const FmiInterface& interface) {
  static std::map<fs::path, std::shared_ptr<FmuLibrary>> opened;
  const fs::path path = binary(folder, fmu, version, interface.model_identifier);
  std::shared_ptr<FmuLibrary>& library = opened[path];
  if (!library) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
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

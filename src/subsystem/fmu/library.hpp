#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "subsystem/fmu/model_description.hpp"

namespace concord {

/// The folder below binaries/ with the shared libraries for this platform.
const char* platform_folder(FmiVersion version);

/// The shared library of an FMU, open until the process ends.
class FmuLibrary {
 public:
  /// The library of `interface` in the unpacked `folder`, opened once per process. `fmu` names the
  /// FMU in messages. Throws InputError: no binary for this platform, shared libraries that it
  /// needs are missing.
  static std::shared_ptr<FmuLibrary> open(const std::filesystem::path& folder,
                                          const std::string& fmu, FmiVersion version,
                                          const FmiInterface& interface);

  /// function = the symbol `name`; throws InputError where the library lacks it.
  template <class Function>
  void load(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(symbol(name));
  }

  /// function = the symbol `name`, or null.
  template <class Function>
  void load_if_there(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(find(name));
  }

  const std::string& fmu() const { return fmu_; }

  /// A function has returned fatal: no instance of this FMU may be called any more.
  bool is_dead() const { return dead_; }
  void declare_dead() { dead_ = true; }

  int instances = 0;  ///< that exist in this process

 private:
  FmuLibrary(std::string fmu, void* handle) : fmu_(std::move(fmu)), handle_(handle) {}
  void* find(const char* name) const;
  void* symbol(const char* name) const;

  std::string fmu_;
  void* handle_;
  bool dead_ = false;
};

}  // namespace concord

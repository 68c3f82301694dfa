#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "subsystem/fmu/binary/fmi_function.hpp"
#include "subsystem/fmu/description/model_description.hpp"
#include "subsystem/fmu/emulated/emulated_binary.hpp"
#include "subsystem/fmu_options.hpp"

namespace concord {

/// The folder below binaries/ with the shared libraries for this platform.
const char* platform_folder(FmiVersion version);

/// The binary of an unpacked FMU that is used.
struct FmuBinary {
  std::filesystem::path path;          ///< empty: none can be used, or no telling which
  std::optional<Emulation> emulation;  ///< how one of another platform is run
};

/// That for this platform, or with an emulator that of another one, as the options have it.
FmuBinary binary_in(const std::filesystem::path& folder, FmiVersion version,
                    const std::string& identifier, const FmuOptions& options);

/// The shared library of an FMU, open until the process ends.
class FmuLibrary {
 public:
  /// The library of `interface` in the unpacked `folder`, opened once per process. `fmu` names the
  /// FMU in messages. Throws InputError: no binary that can be used, shared libraries that it
  /// needs are missing; SimulationError: the process that has it fails.
  static std::shared_ptr<FmuLibrary> open(const std::filesystem::path& folder,
                                          const std::string& fmu, FmiVersion version,
                                          const FmiInterface& interface, const FmuOptions& options);

  /// The symbol `name` behind `prefix`; throws InputError where the library lacks it.
  template <class... Parameters>
  void load(FmiFunction<Parameters...>& function, const std::string& name,
            const std::string& prefix = "") const {
    load_pointer(function.call, prefix + name);
    function.name = name;
  }
  template <class Pointer>
  void load_pointer(Pointer& pointer, const std::string& name) const {
    pointer = reinterpret_cast<Pointer>(symbol(name));
  }

  /// The same, or null.
  template <class... Parameters>
  void load_if_there(FmiFunction<Parameters...>& function, const std::string& name,
                     const std::string& prefix = "") const {
    load_pointer_if_there(function.call, prefix + name);
    function.name = name;
  }
  template <class Pointer>
  bool load_pointer_if_there(Pointer& pointer, const std::string& name) const {
    pointer = reinterpret_cast<Pointer>(find(name));
    return pointer != nullptr;
  }

  const std::string& fmu() const { return fmu_; }

  /// A function has returned fatal: no instance of this FMU may be called any more.
  bool is_dead() const { return dead_; }
  void declare_dead() { dead_ = true; }

  /// Of another platform; null: the binary is in this process.
  const std::shared_ptr<EmulatedBinary>& emulated() const { return emulated_; }

  int instances = 0;  ///< that exist in this process

 private:
  FmuLibrary(std::string fmu, void* handle) : fmu_(std::move(fmu)), handle_(handle) {}
  FmuLibrary(std::string fmu, std::shared_ptr<EmulatedBinary> emulated)
      : fmu_(std::move(fmu)), handle_(nullptr), emulated_(std::move(emulated)) {}
  void* find(const std::string& name) const;
  void* symbol(const std::string& name) const;

  std::string fmu_;
  void* handle_;
  std::shared_ptr<EmulatedBinary> emulated_{};
  bool dead_ = false;
};

}  // namespace concord

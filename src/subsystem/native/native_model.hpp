#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "concord/registry.hpp"

namespace concord {

/// A subsystem in C++ as the model file names it.
struct NativeDescription {
  std::string subsystem;
  std::string type;
  std::string library;           ///< as written; empty: the type is compiled into the program
  std::filesystem::path folder;  ///< of the model file
  Parameters parameters;
  std::string location, type_location, library_location;  ///< "wing.yaml:7"
};

/// Opens the library (a path relative to `folder`; a bare name that is not there is searched as
/// dlopen does), which stays open until exit, and constructs the type.
///
/// Throws InputError (location, subsystem, reason, remedy) when the library cannot be opened, the
/// type is not registered, the constructor throws, a parameter is wrong or unknown, or the
/// subsystem's interface contradicts itself.
std::unique_ptr<OdeModel> make_native_model(const NativeDescription& description);

/// The library's file; empty where only another process, which has opened it, knows.
std::filesystem::path library_file(const NativeDescription& description);

}  // namespace concord

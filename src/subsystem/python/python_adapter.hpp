#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "concord/ode_model.hpp"
#include "concord/registry.hpp"
#include "concord/subsystem.hpp"

namespace concord {

/// A subsystem in Python as the model file names it.
struct PythonDescription {
  std::string subsystem;
  std::string file;              ///< as written
  std::string class_name;        ///< in it
  std::filesystem::path folder;  ///< of the model file
  Parameters parameters;
  std::string location, file_location, class_location;  ///< "wing.yaml:7"
};

/// What is made of a class in Python: one of both.
struct PythonCode {
  std::unique_ptr<OdeModel> model;       ///< with derivatives()
  std::unique_ptr<Subsystem> subsystem;  ///< with time stepping of its own, step()
  std::vector<std::string> remarks = {};
};

/// What Concord's module for Python, which alone knows the interpreter, offers the library.
struct PythonAdapter {
  /// Reads the file and makes an object of the class. Throws InputError: location, subsystem,
  /// reason.
  PythonCode (*make)(const PythonDescription&);
};

/// The name of the module's function, without arguments, that gives its adapter and starts an
/// interpreter where there is none. Throws InputError.
constexpr const char* python_adapter_function = "concord_python_adapter";
using PythonAdapterFunction = const PythonAdapter* (*)();

/// By the module, when a program in Python imports it: this process is that interpreter's.
CONCORD_API void python_runs_concord(const PythonAdapter& adapter);

}  // namespace concord

#include "interpreter.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "concord/errors.hpp"

namespace concord::python {
namespace {

namespace py = pybind11;
namespace fs = std::filesystem;

fs::path package_folder() {
  Dl_info module = {};
  const bool known = dladdr(reinterpret_cast<const void*>(&package_folder), &module) != 0;
  return fs::absolute(known ? module.dli_fname : "").parent_path();
}

/// That of the virtual environment that is active, else the one it was built for: it says where
/// packages are.
std::string program() {
  const char* const environment = std::getenv("VIRTUAL_ENV");
  const fs::path folder = environment == nullptr ? "" : environment;
  const std::string version =
      "python" + std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  std::error_code error;
  return fs::exists(folder / "lib" / version, error) ? (folder / "bin" / version).string()
                                                     : CONCORD_PYTHON_EXECUTABLE;
}

void require(PyStatus status) {
  if (PyStatus_Exception(status) != 0)
    throw InputError(std::string("Python does not start: ") +
                     (status.err_msg == nullptr ? "no reason is known" : status.err_msg));
}

/// Signals stay the program's.
void start_interpreter() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  require(PyConfig_SetBytesString(&config, &config.program_name, program().c_str()));
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  require(status);
}

/// What subsystems print is there when they have printed it, beside what the program prints.
void prepare_interpreter() {
  const py::module_ system = py::module_::import("sys");
  for (const char* stream : {"stdout", "stderr"})
    if (!py::object(system.attr(stream)).is_none())
      system.attr(stream).attr("reconfigure")(py::arg("line_buffering") = true);
  system.attr("path").attr("append")(package_folder().parent_path().string());
}

}  // namespace

void Interpreter::need() {
  if (Py_IsInitialized() != 0) return;
  ours_ = true;
  start_interpreter();
  prepare_interpreter();
}

/// By its path: the package around it needs numpy, which subsystems need not.
py::module_ Interpreter::helper() {
  static auto* const loaded = [] {
    const std::string path = (package_folder() / "_subsystem.py").string();
    const py::object machinery = py::module_::import("importlib.util");
    const py::object spec = machinery.attr("spec_from_file_location")("concord_subsystem", path);
    auto* const module = new py::module_(machinery.attr("module_from_spec")(spec));
    py::module_::import("sys").attr("modules")["concord_subsystem"] = *module;
    spec.attr("loader").attr("exec_module")(*module);
    return module;
  }();
  return *loaded;
}

}  // namespace concord::python

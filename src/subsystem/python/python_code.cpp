#include "subsystem/python/python_code.hpp"

#include <dlfcn.h>

#include <system_error>
#include <utility>

#include "files/python_place.hpp"
#include "subsystem/native/watched_model.hpp"
#include "support/foreign_call.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

const PythonAdapter* interpreters_own = nullptr;

[[noreturn]] void fail(const std::string& reason,
                       const std::string& what = "subsystems in Python") {
  throw InputError(what + " need " + reason +
                   "; install pybind11-dev and libpython3-dev, and build and install Concord again "
                   "(with its Python package, CONCORD_PYTHON)");
}

/// Modules written in C look for the interpreter's functions in the whole program.
void need_interpreter() {
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) return;
  for (const char* name : {python_place::interpreter_library, python_place::library_name})
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE) != nullptr) return;
  fail("the library of Python: " + std::string(dlerror()));
}

const PythonAdapter* load() {
  const fs::path module = python_module_file();
  need_interpreter();
  void* const opened = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) fail("Concord's Python package: " + std::string(dlerror()));
  const auto adapter =
      reinterpret_cast<PythonAdapterFunction>(dlsym(opened, python_adapter_function));
  if (adapter == nullptr)
    fail("another version of Concord's Python package than " + module.string());
  return adapter();
}

const PythonAdapter& adapter() {
  static const PythonAdapter* const loaded =
      interpreters_own != nullptr ? interpreters_own : load();
  return *loaded;
}

PythonCode made(const PythonDescription& description) {
  const ForeignPlace place{"the Python code", description.subsystem.c_str(),
                           description.file.c_str()};
  const ForeignCall running(place, "making it");
  return adapter().make(description);
}

}  // namespace

fs::path python_module_file(const std::string& what) {
  Dl_info library = {};
  std::error_code error;
  const bool known = dladdr(reinterpret_cast<const void*>(&python_module_file), &library) != 0;
  const fs::path folder = fs::canonical(known ? library.dli_fname : "", error).parent_path();
  for (const char* way :
       {python_place::built_module, python_place::installed_module, python_place::pip_module}) {
    const fs::path path = (folder / way).lexically_normal();
    if (*way != '\0' && fs::exists(path, error)) return path;
  }
  if (*python_place::built_module == '\0')
    fail("Concord's Python package, without which it was built", what);
  fail("Concord's Python package: there is no " +
           (folder / python_place::installed_module).lexically_normal().string(),
       what);
}

void python_runs_concord(const PythonAdapter& adapter) { interpreters_own = &adapter; }

bool runs_in_python() { return interpreters_own != nullptr; }

fs::path python_file(const PythonDescription& description) {
  return (description.folder / description.file).lexically_normal();
}

PythonCode make_python_code(const PythonDescription& description) {
  watch_foreign_code();
  const std::string who = ": subsystem '" + description.subsystem + "': ";
  try {
    PythonCode code = made(description);
    if (code.model)
      code.model = watched(std::move(code.model), "the Python code", description.subsystem,
                           description.file);
    return code;
  } catch (const ParameterError& error) {
    throw InputError((error.location().empty() ? description.location : error.location()) + who +
                     error.what());
  } catch (const InputError& error) {
    throw InputError(description.location + who + error.what());
  }
}

}  // namespace concord

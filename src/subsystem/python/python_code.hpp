#pragma once

#include <filesystem>
#include <string>

#include "subsystem/python/python_adapter.hpp"

namespace concord {

/// Whether a program in Python runs Concord: subsystems in Python may run in its interpreter.
bool runs_in_python();

/// An object of the class, in this process's interpreter, which is started where there is none.
///
/// Throws InputError (location, subsystem, reason, remedy) where Python is not there, the file or
/// the class is not, the file fails, a parameter is wrong or unknown, or the class contradicts
/// itself.
PythonCode make_python_code(const PythonDescription& description);

/// Concord's module for Python, beside this library, as it was built or installed. Throws
/// InputError where it is not there, which `what` needs.
std::filesystem::path python_module_file(const std::string& what = "subsystems in Python");

/// The file, seen from the present folder.
std::filesystem::path python_file(const PythonDescription& description);

}  // namespace concord

#pragma once

/// Where the build has put what runs Python, written by CMake; empty where it was built without.
namespace concord::python_place {

extern const char* const interpreter;          ///< the program's path
extern const char* const interpreter_library;  ///< its path
extern const char* const library_name;         ///< by which the loader finds another one
extern const char* const built_module;         ///< from the folder of this library, as built
extern const char* const installed_module;     ///< as installed by CMake
extern const char* const pip_module;           ///< and by pip

}  // namespace concord::python_place

#pragma once

#include <filesystem>
#include <string>

namespace concord {

/// How compiling an FMU's sources ended.
struct Compilation {
  enum class Outcome { done, no_compiler, failed };
  Outcome outcome = Outcome::done;
  std::string compiler;  ///< as it was called: $CC, or cc
  std::string messages;  ///< the compiler's
};

/// Compiles `source` (C99) to the shared library `target`, whose folder exists.
Compilation compile_shared_library(const std::filesystem::path& source,
                                   const std::filesystem::path& target);

}  // namespace concord

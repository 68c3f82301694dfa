#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "concord/api.hpp"
#include "concord/model_builder.hpp"

namespace concord CONCORD_API {

/// The program's own command-line options, from the PETSc options database.
class ProgramOptions {
 public:
  /// The value of `-name`, or `fallback`. Throws InputError for a value that is no number.
  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
};

/// The whole program `concord run` on a model built in C++: MPI, PETSc options, results file,
/// errors and exit codes as in the command. `build` is called once the options are read.
int run_program(int argc, char** argv,
                const std::function<ModelBuilder(const ProgramOptions&)>& build);

}  // namespace CONCORD_API

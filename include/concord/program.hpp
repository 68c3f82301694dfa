#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "concord/ode_model.hpp"

namespace concord {

/// The program's own command-line options, from the PETSc options database.
class ProgramOptions {
 public:
  /// The value of `-name`, or `fallback`. Throws InputError for a value that is no number.
  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
};

/// A model built in C++ rather than read from a file.
class ModelBuilder {
 public:
  using Create = std::function<std::unique_ptr<OdeModel>()>;

  struct Part {
    std::string name;
    Create create;
  };
  struct Wire {
    std::string from;  ///< "subsystem.output"
    std::string to;    ///< "subsystem.input"
  };

  /// `start` and `stop` in seconds.
  ModelBuilder(std::string name, double start, double stop);

  /// Adds a subsystem. `create` may be called several times and on any rank.
  ModelBuilder& add(std::string name, Create create);

  /// "subsystem.output" to "subsystem.input". Names are checked when the program runs.
  ModelBuilder& connect(std::string from, std::string to);

  const std::string& name() const { return name_; }
  double start() const { return start_; }
  double stop() const { return stop_; }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Wire>& wires() const { return wires_; }

 private:
  std::string name_;
  double start_, stop_;
  std::vector<Part> parts_;
  std::vector<Wire> wires_;
};

/// The whole program `concord run` on a model built in C++: MPI, PETSc options, results file,
/// errors and exit codes as in the command. `build` is called once the options are read.
int run_program(int argc, char** argv,
                const std::function<ModelBuilder(const ProgramOptions&)>& build);

}  // namespace concord

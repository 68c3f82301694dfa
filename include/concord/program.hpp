#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

/// What a program wants of a run otherwise than the command `concord run`.
struct RunManner {
  bool tells = true;  ///< summary, notes, progress, to standard output and error
  std::function<void(double start, double stop)> begins = {};  ///< s; before the first macro-step
  std::function<void(const StepInfo&)> step = {};              ///< after each; not to throw
};

/// How a run has ended that did not fail.
struct RunEnding {
  std::string status;  ///< completed, interrupted or diverged, as in the results file
  std::string reason;  ///< why it has stopped early, or nothing
  int signal = 0;      ///< the signal, of any rank, that has stopped it, or 0
  std::vector<std::string> without_effect;  ///< options that were given and never asked for
};

/// `concord run` inside a program, with MPI and PETSc up (see Session), on all of its ranks:
/// results file, checkpoints, signals that stop it, as in the command; afterwards signals do what
/// they did before. `words` are those behind `concord run` on a command line: {"ball.yaml",
/// "-cosim_step", "1e-2", "--set", "ball.e=0.9"};
/// the program's own PETSc options neither count nor change. Collective; throws InputError,
/// SimulationError, the same on every rank.
RunEnding run_inside(const std::vector<std::string>& words, const RunManner& manner = {});

/// The same of a model that was built; `words` are options only.
RunEnding run_inside(const ModelBuilder& model, const std::vector<std::string>& words,
                     const RunManner& manner = {});

/// Whether a subsystem's code (an FMU, a library) has crashed or called exit() in this process,
/// which a SimulationError has told. What is left of it cannot be trusted: a second time ends the
/// process. Who asks knows: the end of the program is its own again, which otherwise has exit code
/// 1.
bool foreign_code_has_crashed();

/// While it lives, in a subsystem's function, a crash there ends the process with its message
/// rather than the run: for code that cannot be left half way, as that of an interpreter.
class CrashesEndProcess {
 public:
  CrashesEndProcess();
  ~CrashesEndProcess();
  CrashesEndProcess(const CrashesEndProcess&) = delete;
  CrashesEndProcess& operator=(const CrashesEndProcess&) = delete;

 private:
  void* survivor_;
};

/// The whole program `concord run` on a model built in C++: MPI, PETSc options, results file,
/// errors and exit codes as in the command. `build` is called once the options are read.
int run_program(int argc, char** argv,
                const std::function<ModelBuilder(const ProgramOptions&)>& build);

}  // namespace CONCORD_API

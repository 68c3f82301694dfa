#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "concord/api.hpp"
#include "concord/errors.hpp"

namespace concord CONCORD_API {

struct Model;
class SimulationCore;

/// Starts what the program has not started itself, MPI and PETSc, and ends that and nothing else.
/// A program that has initialised both needs none; else it comes before the first Simulation and
/// outlives the last.
class Session {
 public:
  /// The command line's options go into PETSc's database. Throws InputError for a wrong one.
  Session(int argc, char** argv);

  /// PETSc on these ranks of a program that has initialised MPI: PETSC_COMM_WORLD where PETSc was
  /// not there. Collective on them.
  explicit Session(MPI_Comm comm);

  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

 private:
  struct Owned;
  std::unique_ptr<Owned> owned_;
};

/// Options by their names without dash, as in the command's help: {{"cosim_type", "jfm"}}. They are
/// this simulation's own: the program's options database neither counts nor changes.
using Options = std::map<std::string, std::string>;

/// Parameters and start values other than a model says, as --set takes them: "ball.e=0.9".
using Changes = std::vector<std::string>;

/// Where a model comes from, with these changes, too; called by the Simulation, whose options it
/// may read, and again by its `reset`.
using ModelSource = std::function<std::shared_ptr<Model>(const Changes&)>;

/// A model file (YAML, .ssd or .ssp), of which the text is read once.
ModelSource model_file(const std::string& path, const Changes& changes = {});

/// An output, input, state or parameter that was found by its name: reading it costs no search.
class Variable {
 public:
  enum class Kind { output, input, state, parameter };
  Variable() = default;
  Variable(Kind kind, std::size_t index) : kind_(kind), index_(index) {}
  Kind kind() const { return kind_; }
  std::size_t index() const { return index_; }  ///< in the whole model

 private:
  Kind kind_ = Kind::output;
  std::size_t index_ = 0;
};

/// What may be set between macro-steps: an input that nothing feeds, or a tunable parameter.
class Settable {
 public:
  enum class Kind { input, parameter };
  Settable() = default;
  Settable(Kind kind, std::size_t subsystem, std::size_t index)
      : kind_(kind), subsystem_(subsystem), index_(index) {}
  Kind kind() const { return kind_; }
  std::size_t subsystem() const { return subsystem_; }
  std::size_t index() const {
    return index_;
  }  ///< input: in the whole model; parameter: in its own

 private:
  Kind kind_ = Kind::input;
  std::size_t subsystem_ = 0;
  std::size_t index_ = 0;
};

/// One accepted macro-step.
struct StepInfo {
  std::int64_t index = 0;  ///< 1 is the first one's
  double begin = 0.0;      ///< s
  double end = 0.0;        ///< s
  double size = 0.0;       ///< s, exactly: far from t = 0 end - begin is rounded
  std::int32_t iterations = 0;
  std::int32_t evaluations = 0;  ///< integrations of all subsystems, rejected attempts included
  std::int32_t rejections = 0;
  double residual = 0.0;
  double error_estimate = 0.0;  ///< as in the results file
  double wall_time = 0.0;       ///< s
};

/// A communication point to which a simulation can return, in memory, as often as wanted. Opaque;
/// copies share it. Each rank has its own part.
class Snapshot {
 public:
  double time() const { return time_; }  ///< s

  /// All of it, for `of_bytes` in any process on such a machine that has this version of Concord.
  std::vector<std::byte> bytes() const;
  /// Throws InputError for what `bytes` has not given.
  static Snapshot of_bytes(std::span<const std::byte> bytes);

 private:
  friend class Simulation;
  struct Memory;
  double time_ = 0.0;
  std::shared_ptr<const Memory> memory_;
};

/// A model at work, on the ranks of a communicator, inside any program; the command `concord run`
/// is one.
///
/// All member functions but `finished`, `time`, `stop_time` and those that find names are
/// collective: every rank calls them in the same order with the same arguments, and gets the same
/// values and the same errors (InputError, SimulationError). After a SimulationError only
/// `restore`, `reset` and the destructor make sense. Where `start` has not been called yet, what is
/// set are start values.
class Simulation {
 public:
  /// Needs MPI and PETSc (see Session). The communicator is duplicated.
  Simulation(MPI_Comm comm, const ModelSource& model, const Options& options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// Consistent inputs and outputs at the start time.
  void start();

  /// One accepted macro-step (two where the step control takes them in pairs).
  void advance();

  /// Macro-steps until `time`, the last of which ends exactly there. `time` must not lie behind;
  /// beyond the stop time it means the stop time. `go_on` is asked after every macro-step, on every
  /// rank; where it says no on one, the macro-steps end there, on all.
  void advance_until(double time, const std::function<bool()>& go_on = {});

  /// Whether the stop time is reached, or a subsystem has asked for the end (`end_reason`).
  bool finished() const;
  double time() const;       ///< s
  double stop_time() const;  ///< s
  const std::string& end_reason() const;

  /// "subsystem.variable" of every output, input and state, in this order.
  std::vector<std::string> variables() const;

  /// Names of the parameters whose values can be read: "subsystem.parameter" of tunable ones, those
  /// of systems, and "parameters.g" of the whole model's.
  std::vector<std::string> parameters() const;

  /// By "subsystem.variable": the output, else the input, else the state, else the parameter.
  /// Throws InputError with the nearest name.
  Variable variable(const std::string& name) const;

  /// At the communication point. Throws InputError for a parameter of a subsystem in C++ that does
  /// not tell what it is (OdeModel::parameter). One message where the subsystem is on another rank.
  double value(Variable variable);
  double value(const std::string& name) { return value(variable(name)); }
  /// Of many with one message.
  void values(std::span<const Variable> variables, std::span<double> result);

  /// By "subsystem.variable" an input that nothing feeds, by "subsystem.parameter" a tunable
  /// parameter. Throws InputError that says why it is neither.
  Settable settable(const std::string& name) const;

  /// From the present communication point on. The macro-step after it begins as after an event:
  /// outputs are made consistent anew, and nothing is interpolated across. Samples that are read
  /// before it are those before the change.
  void set(Settable what, double value);
  void set(const std::string& name, double value) { set(settable(name), value); }

  /// The communication point with all that the next macro-steps depend on: this simulation and
  /// whoever restores the snapshot go on with the bits of a run that took none. Only histories of
  /// multistep integrators are dropped, in this simulation too, which then goes on as exactly.
  /// Throws InputError where a subsystem cannot pass on what it remembers (FMUs that cannot
  /// serialise their state; subsystems in C++ without `io`).
  Snapshot snapshot();

  /// Back to, or on to, a snapshot of this simulation or of another one with the same model,
  /// options and ranks, started or not. Observers stay.
  void restore(const Snapshot& snapshot);

  /// The start again, as `start` leaves it, with other parameters and start values than the model
  /// says, and with nothing of what was set before; what the model computes from them it computes
  /// anew. Observers stay; results files are to be closed before. Where the values are refused
  /// (InputError) the simulation stays as it is.
  void reset(const Changes& values = {});

  /// Calls it after every accepted macro-step, on every rank.
  void observe(std::function<void(const StepInfo&)> observer);

  /// What it is made of, for the library itself.
  SimulationCore& core();
  /// Throws InputError, which says what needs a simulation that was started.
  void require_started(const char* what) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace CONCORD_API

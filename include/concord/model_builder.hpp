#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "concord/api.hpp"
#include "concord/ode_model.hpp"
#include "concord/simulation.hpp"
#include "concord/subsystem.hpp"

namespace concord CONCORD_API {

/// A model built in C++ rather than read from a file; what a model file can say, it can. Variables
/// are "subsystem.variable". Names are checked when the model is used: InputError.
class ModelBuilder {
 public:
  using Create = std::function<std::unique_ptr<OdeModel>()>;
  using CreateSubsystem = std::function<std::unique_ptr<Subsystem>()>;

  /// `start` and `stop` in seconds.
  ModelBuilder(std::string name, double start, double stop);

  /// Adds a subsystem that Concord integrates. `create` may be called several times and on any
  /// rank.
  ModelBuilder& add(std::string name, Create create);

  /// Adds a subsystem with time stepping of its own. Its description's name is this one.
  ModelBuilder& add_subsystem(std::string name, CreateSubsystem create);

  /// Adds an FMU. Its start values and parameters: `start_value`.
  ModelBuilder& add_fmu(std::string name, std::string path);

  /// Of an input or a state, or, of an FMU, of any variable that may be set: in the variable's
  /// unit. A subsystem with time stepping of its own starts its states itself.
  ModelBuilder& start_value(std::string variable, double value);

  /// input = factor * output, which is first converted into the input's unit; the output of `delay`
  /// seconds before, not negative. "a.*" to "b.*": each output whose name an input has.
  ModelBuilder& connect(std::string output, std::string input, double factor = 1.0,
                        double delay = 0.0);

  /// One more unknown of that name, which is such that 0 = `equation`, an expression in outputs
  /// ("left.x - right.x"); `feeds`: inputs, each with its factor on the unknown; `start`: a first
  /// guess.
  ModelBuilder& constrain(std::string unknown, std::string equation,
                          std::vector<std::pair<std::string, double>> feeds, double start = 0.0);

  /// An equation "A = B" that holds at the start beside start values, in states, der(state),
  /// outputs, inputs and t. `free`: states, and inputs that nothing feeds, that are found by it,
  /// from their start values on; empty: the state that stands on its left, alone or as der(state).
  ModelBuilder& initial(std::string equation, std::vector<std::string> free = {});

  /// Something jumps at this time, s: macro-steps end there, and nothing is interpolated across.
  ModelBuilder& event(double time);

  /// -cosim_schedule sequential and hierarchical: subsystems that run one after the other; the
  /// groups beside each other.
  ModelBuilder& group(std::vector<std::string> subsystems);

  const std::string& name() const { return name_; }

  /// Changes are start values.
  ModelSource source() const;

 private:
  struct Part {
    std::string name;
    Create create;
    CreateSubsystem create_subsystem;
    std::string fmu;
  };
  struct Wire {
    std::string from, to;
    double factor, delay;
  };
  struct Constraint {
    std::string unknown, equation;
    std::vector<std::pair<std::string, double>> feeds;
    double start;
  };

  struct Initial {
    std::string equation;
    std::vector<std::string> free;
  };

  friend class BuiltModel;

  std::string name_;
  double start_, stop_;
  std::vector<Part> parts_;
  std::map<std::string, double> start_values_;
  std::vector<Wire> wires_;
  std::vector<Constraint> constraints_;
  std::vector<Initial> initial_;
  std::vector<double> events_;
  std::vector<std::vector<std::string>> groups_;
};

}  // namespace CONCORD_API

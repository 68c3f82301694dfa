#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/python/python_code.hpp"
#include "subsystem/remote/remote.hpp"
#include "subsystem/subsystem.hpp"
#include "subsystem/text_ports.hpp"
#include "support/call_log.hpp"

namespace concord {

/// A subsystem that a process outside serves whole, and what Concord has of it.
struct ServedRecipe {
  std::shared_ptr<const RemoteDescription> remote;
  std::shared_ptr<RemoteLink> link;
};

/// What is known of a subsystem before it is made.
struct SubsystemInterface {
  SubsystemDescription description;
  std::shared_ptr<const TextInterface> texts{};  ///< null: numbers are all that it exchanges
};

/// From what a subsystem of others' code is made, in this process or another one.
class Recipe {
 public:
  Recipe() = default;
  static Recipe of(const FmuSetup& setup);
  static Recipe of(const NativeDescription& native);
  static Recipe of(const PythonDescription& python);
  static Recipe of(ServedRecipe served);

  /// Null where Concord makes it.
  const ServedRecipe* served() const { return served_ ? &*served_ : nullptr; }

  /// Of code in C++ or Python, or what is served: the start values that the subsystem is to have,
  /// in its order.
  void begin_with(const SubsystemDescription& starts);

  /// Made in this process, one at a time. Throws InputError, SimulationError.
  std::unique_ptr<Subsystem> make();

  /// What it is, of code in C++ or Python, made in this process. Throws InputError.
  SubsystemDescription describe() const { return code().description; }

  /// "the FMU", its name and its file, as messages name them.
  const char* what() const;
  const std::string& subsystem() const;
  std::string origin() const;

  /// Of what is served, for who makes it: as `description` has it, but for these start values.
  /// Throws InputError where it has others.
  SubsystemDescription started(SubsystemDescription description) const;
  /// And the tunable parameters that are given.
  const std::vector<std::string>& parameters() const { return parameters_; }
  const std::vector<double>& parameter_values() const { return parameter_values_; }

  SubsystemSettings settings;
  /// Where that process logs its calls.
  std::optional<CallLogPlace> calls{};

  void io(Archive& archive);

 private:
  /// One of both, and what the subsystem is without settings and start values of its own.
  struct Code {
    SubsystemDescription description;
    std::unique_ptr<OdeModel> model;
    std::unique_ptr<Subsystem> subsystem;
  };
  Code code() const;
  Code native_code() const;
  Code python_code() const;
  std::unique_ptr<Subsystem> make_fmu();

  enum class Kind : std::uint8_t { fmu, native, python, served };
  Kind kind_ = Kind::native;
  FmuRequest fmu_;
  std::shared_ptr<const FmuSetup> opened_;  ///< read once
  FmuUse use_;
  NativeDescription native_;
  PythonDescription python_;
  std::optional<ServedRecipe> served_;
  std::vector<std::string> parameters_;
  std::vector<double> parameter_values_;
  std::vector<std::optional<double>> input_starts_;
  std::vector<double> state_starts_;
};

/// Variables and descriptions from one process to another.
void pass(Archive& archive, OdeInterface& interface);
void pass(Archive& archive, SubsystemDescription& description);
void pass(Archive& archive, SubsystemInterface& interface);

}  // namespace concord

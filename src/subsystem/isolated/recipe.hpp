#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/python/python_code.hpp"
#include "subsystem/subsystem.hpp"
#include "support/call_log.hpp"

namespace concord {

/// From what a subsystem of others' code is made, in this process or another one.
class Recipe {
 public:
  Recipe() = default;
  static Recipe of(const FmuSetup& setup);
  static Recipe of(const NativeDescription& native);
  static Recipe of(const PythonDescription& python);

  /// Of code in C++ or Python: the start values that the subsystem is to have, in its order.
  void begin_with(const SubsystemDescription& starts);

  /// Made in this process, one at a time. Throws InputError, SimulationError.
  std::unique_ptr<Subsystem> make();

  /// What it is, of code in C++ or Python, made in this process. Throws InputError.
  SubsystemDescription describe() const { return code().description; }

  /// "the FMU", its name and its file, as messages name them.
  const char* what() const;
  const std::string& subsystem() const;
  std::string origin() const;

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

  enum class Kind : std::uint8_t { fmu, native, python };
  Kind kind_ = Kind::native;
  FmuRequest fmu_;
  std::shared_ptr<const FmuSetup> opened_;  ///< read once
  FmuUse use_;
  NativeDescription native_;
  PythonDescription python_;
  std::vector<std::optional<double>> input_starts_;
  std::vector<double> state_starts_;
};

/// Variables and descriptions from one process to another.
void pass(Archive& archive, OdeInterface& interface);
void pass(Archive& archive, SubsystemDescription& description);

}  // namespace concord

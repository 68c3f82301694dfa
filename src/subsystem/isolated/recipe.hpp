#pragma once

#include <optional>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/subsystem.hpp"
#include "support/call_log.hpp"

namespace concord {

/// From what another process makes a subsystem.
class Recipe {
 public:
  Recipe() = default;
  static Recipe of(const FmuSetup& setup);
  /// `interface`: that of the model, with the start values that the subsystem is to have.
  static Recipe of(const NativeDescription& native, const OdeInterface& interface);

  /// Made in this process, one at a time. Throws InputError, SimulationError.
  std::unique_ptr<Subsystem> make();

  /// The interface of a native one. Throws InputError.
  OdeInterface interface() const { return make_native_model(native_)->interface(); }

  /// "the FMU", its name and its file, as messages name them.
  std::string what() const { return fmu_ ? "the FMU" : "the C++ code"; }
  const std::string& subsystem() const { return fmu_ ? fmu_->subsystem : native_.subsystem; }
  std::string origin() const { return fmu_ ? fmu_->path.string() : native_.library; }

  SubsystemSettings settings;
  /// Where that process logs its calls.
  std::optional<CallLogPlace> calls{};

  void io(Archive& archive);

 private:
  std::optional<FmuRequest> fmu_;
  std::shared_ptr<const FmuSetup> opened_;  ///< read once
  FmuUse use_;
  NativeDescription native_;
  std::vector<std::optional<double>> input_starts_;
  std::vector<double> state_starts_;
};

/// Variables and descriptions from one process to another.
void pass(Archive& archive, OdeInterface& interface);
void pass(Archive& archive, SubsystemDescription& description);

}  // namespace concord

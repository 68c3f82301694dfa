#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/fmu_options.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// target = factor * source + offset.
struct LinearTransformation {
  double factor = 1.0;
  double offset = 0.0;

  bool operator==(const LinearTransformation&) const = default;
  bool changes_nothing() const { return factor == 1.0 && offset == 0.0; }
  /// Of a number as text. Throws InputError, with the place `where`, for what is none.
  std::string applied(const std::string& text, const std::string& where) const;
};

/// A value that the model file gives a variable: one text per element.
struct FmuValue {
  std::string name;
  std::vector<std::string> texts;
  std::string unit;  ///< text as udunits reads it; empty: the variable's
  std::string location;
  LinearTransformation transformation{};  ///< after the conversion into the variable's unit
};

/// An FMU as the model file names it.
struct FmuRequest {
  std::string subsystem;
  std::filesystem::path path;
  std::string location;
  std::vector<FmuValue> parameters;   ///< of variables with causality (structural) parameter
  std::vector<FmuValue> start;        ///< of inputs and other variables with a start value
  std::vector<FmuValue> values;       ///< of either
  std::vector<std::string> driven{};  ///< tunable parameters, or elements, that are inputs here
  FmuOptions options;
  IsolationOptions isolation{};
  std::filesystem::path unpacked{};  ///< where it has been unpacked already; empty: not yet
  /// FMI 1.0: the variables that its states are, as it says itself; empty: it was not asked.
  std::vector<std::uint32_t> state_references{};
};

struct FmuSetup;

/// Unpacks the FMU (once per node), reads its description and checks the request against it. Loads
/// no binary. Throws InputError.
std::shared_ptr<const FmuSetup> open_fmu(const FmuRequest& request);

/// Variables that may be given a value.
std::vector<std::string> names_to_give(const FmuSetup& setup);

/// A number that the FMU begins with.
struct FmuNumber {
  std::string name;
  double value = 0.0;
  double nominal = 0.0;  ///< 0: nobody knows
  bool parameter = false;
};

/// The scalar Float32 and Float64 among these, as the description says them or as they were given.
std::vector<FmuNumber> numbers_to_give(const FmuSetup& setup);

/// What the FMU offers to Concord.
const SubsystemDescription& description_of(const FmuSetup& setup);

/// Loads the binary and instantiates it. Throws InputError, SimulationError.
std::unique_ptr<Subsystem> make_fmu_subsystem(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings);

}  // namespace concord

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "concord/ode_model.hpp"
#include "subsystem/fmu/description/clock.hpp"
#include "subsystem/fmu/description/terminals.hpp"

namespace concord {

enum class FmiVersion { v1, v2, v3 };

enum class FmiType {
  float32,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
  string,
  binary,
  enumeration,
  clock
};

enum class FmiCausality {
  local,
  parameter,
  calculated_parameter,
  structural_parameter,
  input,
  output,
  independent
};

enum class FmiVariability { continuous, discrete, constant, fixed, tunable };

/// What travels between subsystems as numbers: neither texts and bytes nor clocks.
inline bool is_number(FmiType type) {
  return type != FmiType::string && type != FmiType::binary && type != FmiType::clock;
}

inline bool is_text(FmiType type) { return type == FmiType::string || type == FmiType::binary; }

using FmiReference = std::uint32_t;

/// One dimension of an array (FMI 3): a number, or the value of a structural parameter.
struct FmiDimension {
  std::uint64_t length = 0;
  std::optional<std::size_t> parameter;  ///< index of the variable
};

/// A variable of modelDescription.xml. FMI 1 and 2's Real, Integer are float64, int32.
struct FmiVariable {
  std::string name;
  FmiReference reference = 0;
  FmiType type = FmiType::float64;
  FmiCausality causality = FmiCausality::local;
  FmiVariability variability = FmiVariability::continuous;
  std::string initial;             ///< exact, approx, calculated; with the standard's defaults
  std::vector<std::string> start;  ///< one text per element, or none
  std::string unit;                ///< name as written
  double nominal = 0.0;            ///< 0: not given
  std::string base_unit;           ///< the same in base units, as udunits reads it; may be empty
  bool relative = false;           ///< a difference (relativeQuantity): units have no offset
  std::string declared_type;       ///< name of its type definition; may be empty
  std::vector<std::string> aliases;
  std::size_t size = 1;                                    ///< number of elements
  std::vector<std::pair<std::string, std::string>> items;  ///< of an enumeration: name, value
  std::optional<std::size_t> derivative_of;                ///< index of the state
  std::vector<FmiDimension> dimensions;                    ///< none: a scalar
  std::string mime;                                        ///< of Binary; empty: anything
  std::size_t most_bytes = 0;                              ///< of Binary (maxSize); 0: any number
  bool intermediate_update = false;
  bool set_once = false;  ///< per time instant (canHandleMultipleSetPerTimeInstant false)
  bool negated = false;   ///< FMI 1.0: what its reference stands for is -1 times it, or not it
  std::optional<FmiClock> clock{};    ///< of type clock
  std::vector<std::size_t> clocks{};  ///< indices of those at whose ticks alone it changes
};

/// What an unknown (output, derivative) depends on: indices of variables; absent means everything.
struct FmiUnknown {
  std::size_t variable = 0;
  std::optional<std::vector<std::size_t>> dependencies;
};

/// The attributes of <CoSimulation>, <ModelExchange> or <ScheduledExecution>.
struct FmiInterface {
  std::string model_identifier;
  bool needs_execution_tool = false;
  bool only_once_per_process = false;
  bool state = false;                ///< canGetAndSetFMUState
  bool serializes = false;           ///< canSerializeFMUState
  bool directional = false;          ///< providesDirectionalDerivative(s)
  bool variable_steps = false;       ///< canHandleVariableCommunicationStepSize
  bool interpolates = false;         ///< FMI 1, 2: canInterpolateInputs
  bool completed_step = true;        ///< completedIntegratorStep is needed
  bool event_mode = false;           ///< FMI 3: hasEventMode
  bool intermediate_update = false;  ///< FMI 3: providesIntermediateUpdate
  int output_derivative_order = 0;   ///< maxOutputDerivativeOrder
  double fixed_internal_step = 0.0;  ///< FMI 3: fixedInternalStepSize; 0: none
  std::size_t unnamed_states = 0;    ///< FMI 1.0 model exchange: numberOfContinuousStates
  std::string mime_type;             ///< FMI 1.0: of the code, or of the model for its tool
};

/// modelDescription.xml, as far as a simulation needs it.
struct ModelDescription {
  FmiVersion version = FmiVersion::v2;
  std::string model_name, token, tool;
  std::optional<FmiInterface> co_simulation, model_exchange, scheduled_execution;
  std::vector<FmiVariable> variables;
  std::vector<FmiUnknown> outputs, derivatives;
  std::vector<std::size_t> indicator_variables;  ///< FMI 3
  std::size_t event_indicators = 0;
  std::optional<double> start, stop, tolerance, step;
  std::vector<std::string> remarks;  ///< what is unusual and was understood nevertheless
  std::vector<FmiTerminal> terminals;
};

/// Reads `folder`/modelDescription.xml; `fmu` names the FMU in messages. Throws InputError.
ModelDescription read_model_description(const std::filesystem::path& folder,
                                        const std::string& fmu);

/// Sizes of arrays and the number of event indicators, from the start values of structural
/// parameters. Throws InputError; `where` names the file in messages.
void apply_dimensions(ModelDescription& model, const std::string& where);

/// What the variable does between events: continuous reals move, everything else is held.
SignalKind kind_of(const FmiVariable& variable);

/// Whether any output has the type.
bool puts_out(const ModelDescription& model, FmiType type);

/// Integers, Booleans and enumerations do.
bool takes_whole_numbers(const FmiVariable& variable);

/// Whether a variable has this type.
bool has_type(const ModelDescription& model, FmiType type);

/// "1.0", "2.0", "3.0"
const char* name_of(FmiVersion version);

/// "fmi", "fmi2", "fmi3": of the names of its functions.
const char* prefix_of(FmiVersion version);

/// "Float64", "Boolean", ...: as in FMI 3.
const char* name_of(FmiType type);

/// "input", "calculatedParameter", ...: as in modelDescription.xml.
const char* name_of(FmiCausality causality);
const char* name_of(FmiVariability variability);

/// Whether a text stands for a value of the type, items of enumerations apart.
bool fits(const std::string& text, FmiType type);

}  // namespace concord

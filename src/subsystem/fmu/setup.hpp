#pragma once

#include <set>

#include "subsystem/fmu/binary/instance.hpp"
#include "subsystem/fmu/clocks/clocks.hpp"
#include "subsystem/fmu/fmu.hpp"
#include "subsystem/fmu/use.hpp"
#include "subsystem/text_ports.hpp"

namespace concord {

class HybridModel;

/// A start value to be set before initialisation.
struct FmuStart {
  const FmiVariable* variable;
  std::vector<std::string> texts;
};

/// Everything about an FMU subsystem that is known without its binary.
struct FmuSetup {
  FmuRequest request;
  std::filesystem::path folder;
  std::shared_ptr<const ModelDescription> model;
  FmuRole role = FmuRole::co_simulation;
  SubsystemDescription description;
  /// In the order of the description.
  std::vector<const FmiVariable*> input_variables, output_variables;
  std::vector<const FmiVariable*> parameter_variables;  ///< the tunable ones
  std::vector<double> parameter_starts;                 ///< of their elements
  std::vector<const FmiVariable*> text_inputs, text_outputs;
  std::shared_ptr<const TextInterface> texts{};  ///< of their elements; null: none
  std::vector<std::size_t> told_by_texts;  ///< outputs that may depend on text inputs directly
  FmuPorts states, derivatives;
  std::vector<FmuStart> structural, starts, input_starts;
  FmuUse use;
  std::shared_ptr<CallLog> calls{};  ///< null: its calls are not logged
  /// Notes that were told already, by whoever uses this setup or a copy of it.
  std::shared_ptr<std::set<std::string>> told = std::make_shared<std::set<std::string>>();

  const FmiInterface& interface() const { return interface_of(*model, role); }
  FmuSource source(const FmuUse& used) const;

  /// The variables of `all` with an element that `wanted` has (empty: all), of one kind or both;
  /// not those that are the matter of clocks.
  FmuPorts ports(const std::vector<const FmiVariable*>& all, std::span<const char> wanted = {},
                 std::optional<SignalKind> kind = std::nullopt) const;
};

inline ClockedVariables clocked_variables(const FmuSetup& setup) {
  return {*setup.model,      setup.input_variables, setup.output_variables,
          setup.text_inputs, setup.text_outputs,    setup.request.path.string()};
}

/// The states of an FMU of FMI 1.0 as the variables that the request says they are, else called
/// state[1], state[2], ...; of other versions none.
std::vector<StateVariable> unnamed_states(const FmuSetup& setup);

/// What the subsystem can do with this use of its FMU.
Capabilities capabilities_of(const FmuSetup& setup, const FmuUse& use);

/// What an FMU without saved states lacks: "canGetAndSetFMUState", or of FMI 1.0 that there is
/// none.
std::string missing_states(const FmuSetup& setup);

/// "T", or "T[1]" of an array.
std::string element_name(const FmiVariable& variable, std::size_t element);

/// Throws InputError that names the subsystem and the FMU.
[[noreturn]] void refuse_request(const FmuRequest& request, const std::string& location,
                                 const std::string& problem);

/// A note on stderr about the FMU, once.
void tell(const FmuSetup& setup, const std::string& note, const char* how = "note");

/// Checks the values that the request gives and puts them into `structural` and `starts`; sizes of
/// arrays follow. Throws InputError.
void take_given_values(FmuSetup& setup);

/// What the FMU is told: -subsystem_rtol where it was given, else the FMU's own; 0 without either.
double chosen_tolerance(const FmuSetup& setup, const SubsystemSettings& settings);

/// An instance for this use, which loses event mode where the FMU claims it and is not to be had
/// with it: that is told. Throws SimulationError.
std::unique_ptr<FmuInstance> make_instance(const FmuSetup& setup, FmuUse& use);

/// Sets the start values and enters initialisation mode, in both roles: what is given to inputs
/// follows there, as it was given. `tolerance` 0: none is given. Values that the FMU does not keep
/// are told.
bool begin_initialization(const FmuSetup& setup, FmuInstance& instance, double start, double stop,
                          double tolerance);

/// The clocks of an FMU where it has come to, with the inputs there.
struct Ticking {
  const FmuClocks& clocks;
  ClockMemory& memory;
  double t;
  std::span<const double> u;
};

/// From initialisation mode to where the instance runs, with the events at the start; `ticking`:
/// and the clocks that tick there. Null, here and below: none does.
bool end_initialization(const FmuSetup& setup, FmuInstance& instance, EventOutcome& outcome,
                        const Ticking* ticking = nullptr);

/// "'m' is 1, not 80": of the values that were given, those that the FMU has otherwise, in
/// initialisation mode or, of what stays as it is, after it. Empty: none, or it does not say.
std::string values_not_kept(const FmuSetup& setup, FmuInstance& instance);

/// The event iteration and what follows it, from event mode to where the instance runs.
bool iterate_events(FmuInstance& instance, EventOutcome& outcome, const Ticking* ticking = nullptr);

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings);
/// What Concord integrates, with this use of its FMU.
std::unique_ptr<HybridModel> make_model_exchange(std::shared_ptr<const FmuSetup> setup,
                                                 const FmuUse& use, double tolerance);
std::unique_ptr<HybridModel> make_scheduled_execution(std::shared_ptr<const FmuSetup> setup,
                                                      const FmuUse& use, double tolerance);

}  // namespace concord

#pragma once

#include "subsystem/fmu/fmu.hpp"
#include "subsystem/fmu/instance.hpp"

namespace concord {

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
  FmuPorts inputs, outputs, states, derivatives;    ///< in the order of the description
  std::vector<const FmiVariable*> input_variables;  ///< of `inputs`
  std::vector<FmuStart> structural, starts;
  /// FMI 3: all inputs by intermediate update, which an FMU holds until the next one (first order
  /// in its internal step): only where micro-steps (second order) are not possible.
  bool polynomials_by_update = false;

  const FmiInterface& interface() const {
    return role == FmuRole::co_simulation ? *model->co_simulation : *model->model_exchange;
  }
  FmuSource source() const;
};

/// Throws InputError that names the subsystem and the FMU.
[[noreturn]] void refuse_request(const FmuRequest& request, const std::string& location,
                                 const std::string& problem);

/// Checks the values that the request gives and puts them into `structural` and `starts`; sizes of
/// arrays follow. Throws InputError.
void take_given_values(FmuSetup& setup, const UnitRules& units);

/// What the FMU is told: -subsystem_rtol where it was given, else the FMU's own; 0 without either.
double chosen_tolerance(const FmuSetup& setup, const SubsystemSettings& settings);

/// Sets the start values and enters initialisation mode. `tolerance` 0: none is given.
bool begin_initialization(const FmuSetup& setup, FmuInstance& instance, double start, double stop,
                          double tolerance);

/// Whether the input changes at events only: everything but continuous reals.
bool is_discrete(const FmiVariable& input);

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings);
std::unique_ptr<Subsystem> make_model_exchange(std::shared_ptr<const FmuSetup> setup,
                                               const SubsystemSettings& settings);

}  // namespace concord

#include "subsystem/fmu/use.hpp"

#include <algorithm>

#include "subsystem/fmu/setup.hpp"

namespace concord {

namespace {

constexpr int most_input_derivatives = 3;  ///< of a cubic

/// All inputs by intermediate update, which an FMU holds until the next one (first order in its
/// internal step): only where micro-steps (second order) are not possible.
bool updates_all_inputs(const FmuSetup& setup, const FmiInterface& interface) {
  return interface.intermediate_update && !interface.variable_steps &&
         !setup.input_variables.empty() &&
         std::all_of(setup.input_variables.begin(), setup.input_variables.end(),
                     [](const FmiVariable* input) { return input->intermediate_update; });
}

}  // namespace

FmuUse claimed_use(const FmuSetup& setup) {
  const FmiInterface& interface = setup.interface();
  const FmuOptions& options = setup.request.options;
  FmuUse use;
  use.state = interface.state;
  use.serializes = interface.serializes;
  use.directional = interface.directional;
  use.completed_step = interface.completed_step;
  if (setup.role != FmuRole::co_simulation) return use;
  use.variable_steps = interface.variable_steps;
  use.input_order =
      interface.interpolates ? std::min(options.input_derivatives, most_input_derivatives) : 0;
  use.updates = updates_all_inputs(setup, interface);
  use.output_slopes = interface.output_derivative_order > 0;
  use.event_mode = interface.event_mode;
  use.internal_step = interface.fixed_internal_step;
  use.micro_steps = options.micro_steps;
  return use;
}

FmuUse permitted(FmuUse use, const SubsystemSettings& settings) {
  use.state = use.state && settings.rollback;
  use.stop_time = !settings.open_end;
  use.directional = use.directional && settings.linearization;
  return use;
}

}  // namespace concord

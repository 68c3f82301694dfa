#include <utility>

#include "subsystem/ode_subsystem.hpp"

namespace concord {

SubsystemDescription describe_ode(std::string name, std::string kind,
                                  const OdeInterface& interface) {
  SubsystemDescription description;
  description.name = std::move(name);
  description.kind = std::move(kind);
  description.inputs = interface.inputs;
  description.states = interface.states;
  description.outputs = interface.outputs;
  description.parameters = interface.parameters;
  description.capabilities = {true, true, true, true, true, true, true, true, true};
  description.capabilities.output_curvatures = true;
  if (interface.feedthrough) {
    description.feedthrough = *interface.feedthrough;
    return description;
  }
  for (std::size_t output = 0; output < interface.outputs.size(); ++output)
    for (std::size_t input = 0; input < interface.inputs.size(); ++input)
      description.feedthrough.push_back({output, input});
  return description;
}

SubsystemDescription apart_from_withheld(SubsystemDescription description,
                                         const SubsystemSettings& settings) {
  if (!settings.rollback) description.capabilities.rollback = false;
  if (!settings.linearization) description.capabilities.linearization = false;
  if (!settings.state_derivatives) {
    description.capabilities.state_derivatives = false;
    description.capabilities.state_outputs = false;
  }
  return description;
}

}  // namespace concord

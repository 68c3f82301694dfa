#include "network/start_problem.hpp"

#include "concord/errors.hpp"

namespace concord {

void begin_with(SubsystemEntry& entry, const StartValues& values) {
  SubsystemDescription description = entry.description;
  for (const auto& [state, value] : values.states) description.states.own()[state].start = value;
  for (const auto& [input, value] : values.inputs) description.inputs.own()[input].start = value;
  if (!values.states.empty() || !values.inputs.empty()) entry.type->take_starts(entry, description);
  if (values.parameters.empty()) return;
  entry.type.own().create = [create = entry.type->create, parameters = values.parameters](
                                const SubsystemEntry& self, const SubsystemSettings& settings) {
    std::unique_ptr<Subsystem> made = create(self, settings);
    for (const auto& [parameter, value] : parameters)
      if (made->set_parameter(parameter, value) != Outcome::ok) throw InputError(made->failure());
    return made;
  };
}

}  // namespace concord

#include "studies/model_numbers.hpp"

#include "modelfile/changes/model_changes.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "subsystem/fmu/fmu.hpp"

namespace concord {

std::map<std::string, ModelNumber> numbers_of(const Model& model) {
  std::map<std::string, ModelNumber> result;
  for (const auto& [name, value] : model.parameters)
    result[std::string(whole_model) + "." + name] = {value, 0.0, true, true};
  for (const SystemEntry& system : model.systems)
    for (const auto& [name, value] : system.parameters)
      result[system.name + "." + name] = {value, 0.0, true, true};
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    for (const auto& state : d.states)
      result[d.name + "." + state.name] = {state.start, state.nominal};
    for (const auto& input : d.inputs)
      if (input.start) result[d.name + "." + input.name] = {*input.start, input.nominal};
    if (entry.type->fmu)
      for (const FmuNumber& number : numbers_to_give(*entry.type->fmu))
        result[d.name + "." + number.name] = {number.value, number.nominal, number.parameter};
    if (entry.type->inside) result.merge(numbers_of(*entry.type->inside));
    if (!entry.equations) continue;
    for (const auto& number : entry.equations->parameters)
      result[d.name + "." + number.name] = {*number.value, 0.0, true};
    for (const auto& number : entry.equations->discrete)
      result[d.name + "." + number.name] = {*number.value};
  }
  return result;
}

std::map<std::string, std::string> outputs_of(const Model& model) {
  std::map<std::string, std::string> result;
  for (const SystemEntry& system : model.systems)
    for (const SystemTerminal& terminal : system.outputs)
      result[system.name + "." + terminal.name] = terminal.inner.front();
  for (const SubsystemEntry& entry : model.subsystems)
    for (const auto& output : entry.description.outputs) {
      const std::string name = entry.description.name + "." + output.name;
      result[name] = name;
    }
  return result;
}

}  // namespace concord

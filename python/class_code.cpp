#include "class_code.hpp"

#include <optional>

namespace concord::python {

ClassCode::ClassCode(py::object made, std::string read_from)
    : instance(std::move(made)),
      file(std::move(read_from)),
      states(instance.attr("State"), instance.attr("states")),
      inputs(instance.attr("Input"), instance.attr("inputs")),
      tunable(instance.attr("tunable").cast<std::vector<std::string>>()),
      outputs_at(instance.attr("outputs_at")),
      outputs_take_inputs(instance.attr("outputs_take_inputs").cast<bool>()) {}

/// Names of all numbers, with their start values.
std::vector<std::pair<std::string, py::object>> ClassCode::elements(const char* kind) const {
  std::vector<std::pair<std::string, py::object>> result;
  for (const py::handle variable : instance.attr(kind))
    for (const py::handle element : variable.attr("elements")()) {
      const auto [name, start] = element.cast<std::pair<std::string, py::object>>();
      result.emplace_back(name, start);
    }
  return result;
}

OdeInterface ClassCode::interface() const {
  const auto units = instance.attr("units").cast<std::map<std::string, std::string>>();
  const auto nominal = instance.attr("nominal").cast<std::map<std::string, double>>();
  OdeInterface result;
  for (const auto& [name, start] : elements("inputs"))
    result.inputs.push_back({.name = name,
                             .unit = units.at(name),
                             .start = start.cast<std::optional<double>>(),
                             .nominal = nominal.at(name)});
  for (const auto& [name, start] : elements("states"))
    result.states.push_back({.name = name,
                             .unit = units.at(name),
                             .start = start.cast<std::optional<double>>().value_or(0.0),
                             .nominal = nominal.at(name)});
  for (const auto& [name, start] : elements("outputs"))
    result.outputs.push_back({.name = name, .unit = units.at(name), .nominal = nominal.at(name)});
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  if (const auto pairs = instance.attr("feedthrough").cast<std::optional<Pairs>>()) {
    result.feedthrough.emplace();
    for (const auto& [output, input] : *pairs) result.feedthrough->push_back({output, input});
  }
  result.time_dependent = instance.attr("time_dependent").cast<bool>();
  result.parameters = tunable;
  return result;
}

}  // namespace concord::python

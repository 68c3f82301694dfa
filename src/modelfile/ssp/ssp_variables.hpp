#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "network/model.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

/// The elements of the array "name", in their order; the name itself where there is no array.
template <class Variable>
std::vector<std::string> elements_of(const SharedList<Variable>& variables,
                                     const std::string& name) {
  std::vector<std::string> elements;
  for (const Variable& variable : variables) {
    if (variable.name == name) return {name};
    if (variable.name == name + "[" + std::to_string(elements.size() + 1) + "]")
      elements.push_back(variable.name);
  }
  return elements.empty() ? std::vector<std::string>{name} : elements;
}

/// Whether the variable of an FMU is a difference.
inline bool is_relative(const SubsystemEntry& entry, const std::string& name) {
  const auto& variables = entry.type->fmu->model->variables;
  return std::any_of(variables.begin(), variables.end(), [&](const FmiVariable& variable) {
    return variable.name == name && variable.relative;
  });
}

/// As the FMU writes it.
inline std::string unit_name_in(const SubsystemEntry& entry, const std::string& name) {
  for (const FmiVariable& variable : entry.type->fmu->model->variables)
    if (variable.name == name) return variable.unit;
  return "";
}

}  // namespace concord

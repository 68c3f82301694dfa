#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "expression/expression_tree.hpp"
#include "subsystem/equations/equations_model.hpp"

namespace concord {

enum class VariableRole { time, state, derivative, input, output, parameter };

/// A variable of the FMU. Those of one role have consecutive references, in the model file's order.
struct ExportedVariable {
  VariableRole role;
  std::size_t index;   ///< among those of its role
  unsigned reference;  ///< FMI's value reference
  std::string name;
  std::string unit;         ///< empty: none
  double start = 0.0;       ///< of states, inputs, parameters
  bool is_output = false;   ///< an output, or a state that is one
  std::string description;  ///< the equation of outputs and derivatives
};

/// A right-hand side: f_i or g_i.
struct ExportedEquation {
  std::string name;  ///< of the state or output, in the model file
  Expression expression;
  std::vector<std::string> uses;  ///< names of the model file, each once
};

/// A subsystem of equations, laid out as an FMU.
///
/// An output that is simply the state of the same name is one variable with it. FMI wants names
/// that are unique: other states named like an output become NAME_state, outputs named like an
/// input or a parameter NAME_output.
struct ExportedModel {
  std::string name;
  std::vector<std::string> states, inputs, parameters;  ///< names of the model file
  std::vector<ExportedEquation> derivatives, outputs;   ///< outputs that are no states
  std::vector<ExportedVariable> variables;              ///< in the order of the description
  std::vector<std::string> notes;                       ///< what the user should know

  const ExportedVariable& variable(VariableRole role, std::size_t index) const;
  /// Where that variable stands in `variables`.
  std::size_t position(VariableRole role, std::size_t index) const;
  /// The variable that a name of the equations stands for; null for constants (pi).
  const ExportedVariable* known(const std::string& word) const;
  /// Start values, by index.
  std::vector<double> starts(VariableRole role) const;
};

/// Throws InputError for equations that are wrong, as EquationsModel does.
ExportedModel lay_out(const EquationsDescription& description);

}  // namespace concord

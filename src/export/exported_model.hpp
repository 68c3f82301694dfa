#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expression_tree.hpp"
#include "expression/number_table.hpp"
#include "subsystem/equations/smooth_equations.hpp"

namespace concord {

enum class VariableRole { time, state, derivative, input, output, parameter, discrete, indicator };

/// A variable of the FMU. Those of one role have consecutive references, in the model file's order.
struct ExportedVariable {
  VariableRole role;
  std::size_t index;   ///< among those of its role
  unsigned reference;  ///< FMI's value reference
  std::string name;
  std::string unit;         ///< empty: none
  double start = 0.0;       ///< of states, inputs, parameters, discrete variables
  bool is_output = false;   ///< an output, or a state or discrete variable that is one
  std::string description;  ///< the equation of outputs and derivatives, an indicator's relation
  bool is_held = false;     ///< changes at events only
};

/// A right-hand side: f_i or g_i.
struct ExportedEquation {
  std::string name;  ///< of the state or output, in the model file
  Expression expression;
  std::vector<std::string> uses;  ///< names of the model file, each once
};

/// What is watched for events: a relation's truth, or one side of its whole number.
struct ExportedWatch {
  enum class Side { truth, below, above };
  std::size_t relation;
  Side side;
  std::vector<std::string> uses;  ///< names of the model file, each once
};

/// What happens at events.
struct ExportedEvents {
  std::vector<Relation> relations;
  std::vector<ExportedWatch> watched;  ///< indicators first, then what moves linearly with time
  std::size_t indicators = 0;          ///< how many are event indicators
  std::vector<EquationCondition> conditions;
  std::vector<Expression> whens;  ///< of each condition itself (of ticks none) and its sets

  bool any() const { return !relations.empty() || !conditions.empty(); }
};

/// A subsystem of equations, laid out as an FMU. Expressions are smooth between events.
///
/// An output that is simply the state or discrete variable of the same name is one variable with
/// it. FMI wants names that are unique: other states named like an output become NAME_state,
/// discrete variables NAME_discrete, outputs named like an input or a parameter NAME_output.
struct ExportedModel {
  std::string name;
  /// Names of the model file.
  std::vector<std::string> states, inputs, parameters, discrete;
  std::unordered_map<std::string, Expression> definitions;  ///< of variables
  std::vector<ExportedEquation> derivatives, outputs;  ///< outputs that are not one with others
  ExportedEvents events;
  std::vector<const NumberTable*> tables;   ///< that expressions look up, each once
  std::vector<ExportedVariable> variables;  ///< in the order of the description
  std::vector<std::string> notes;           ///< what the user should know
  /// Its outputs follow its inputs directly at the start only, and it is for co-simulation alone.
  bool is_delay = false;

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

#include "modelfile/constraint_connections.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "subsystem/constraint/constraint_subsystem.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Names = std::set<std::string>;

/// What constraints ask about the model's subsystems, by names.
struct Index {
  std::unordered_map<std::string, std::size_t> subsystems;
  ExpressionNames outputs;
  /// Of each input: the outputs that answer to it directly; of each output: the inputs it feeds.
  std::unordered_map<std::string, std::vector<std::string>> felt_by, fed_by;
};

Index index_of(const Model& model) {
  Index index;
  for (const auto& entry : model.subsystems) {
    const auto& d = entry.description;
    index.subsystems.emplace(d.name, index.subsystems.size());
    for (const auto& output : d.outputs) {
      index.outputs.variables.emplace(d.name + "." + output.name, 0);
    }
    for (const auto& [output, input] : d.feedthrough) {
      index.felt_by[d.name + "." + d.inputs[input].name].push_back(d.name + "." +
                                                                   d.outputs[output].name);
    }
  }
  for (const auto& connection : model.connections) {
    index.fed_by[connection.from].push_back(connection.to);
  }
  return index;
}

void check_unknown(const ConstraintEntry& constraint, const Index& index, const Model& model) {
  const auto found = index.subsystems.find(constraint.unknown);
  if (found != index.subsystems.end()) {
    const SubsystemEntry& other = model.subsystems[found->second];
    const bool before = other.description.constraint.has_value();
    throw InputError(constraint.location + ": the constraint's unknown '" + constraint.unknown +
                     "' has the name of a " + (before ? "constraint before" : "subsystem") +
                     ", at " + other.location + "; give it another");
  }
}

/// The outputs that the equation names, each once; refuses names that are no outputs.
std::vector<std::string> outputs_in(const ConstraintEntry& constraint, const std::string& place,
                                    const ExpressionNames& known) {
  const std::vector<PlacedExpression> equation{{constraint.equation, place}};
  const ExpressionList check(equation, known, 1);
  std::vector<std::string> outputs;
  for (const NameUse& use : names_used(constraint.equation)) {
    if (known.variables.contains(use.name) &&
        std::find(outputs.begin(), outputs.end(), use.name) == outputs.end()) {
      outputs.push_back(use.name);
    }
  }
  if (outputs.empty()) {
    throw InputError(place + ": " + in_quotes(constraint.equation) +
                     " names no output, so that no unknown can keep it at zero; write it in "
                     "'subsystem.output'");
  }
  return outputs;
}

/// All outputs that answer directly to these inputs, through as many subsystems as it takes.
Names felt_directly(std::vector<std::string> open, const Index& index) {
  Names inputs(open.begin(), open.end()), outputs;
  while (!open.empty()) {
    const auto felt = index.felt_by.find(open.back());
    open.pop_back();
    if (felt == index.felt_by.end()) {
      continue;
    }
    for (const std::string& output : felt->second) {
      const auto fed = index.fed_by.find(output);
      if (!outputs.insert(output).second || fed == index.fed_by.end()) {
        continue;
      }
      for (const std::string& input : fed->second) {
        if (inputs.insert(input).second) {
          open.push_back(input);
        }
      }
    }
  }
  return outputs;
}

ConstraintKind kind_of(const ConstraintEntry& constraint, const std::vector<std::string>& outputs,
                       const Index& index) {
  std::vector<std::string> fed;
  for (const auto& feed : constraint.feeds) {
    fed.push_back(feed.input);
  }
  const Names felt = felt_directly(std::move(fed), index);
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const std::string& output) { return felt.contains(output); })
             ? ConstraintKind::direct
             : ConstraintKind::indirect;
}

void check_feeds(const ConstraintEntry& constraint) {
  for (const auto& feed : constraint.feeds) {
    if (feed.factor == 0.0) {
      throw InputError(feed.location + ": constraint '" + constraint.unknown + "' feeds '" +
                       feed.input + "' with the factor 0; give another factor or leave it out");
    }
  }
}

void connect(const ConstraintEntry& constraint, Index& index, Model& model) {
  check_unknown(constraint, index, model);
  check_feeds(constraint);
  ConstraintDescription description;
  description.unknown = constraint.unknown;
  description.start = constraint.start;
  description.equation = constraint.equation;
  description.place =
      constraint.equation_location + ": equation of constraint '" + constraint.unknown + "'";
  description.constants = constraint.constants;
  description.functions = constraint.functions;
  index.outputs.constants = constraint.constants;
  index.outputs.functions = constraint.functions;
  description.outputs = outputs_in(constraint, description.place, index.outputs);
  description.kind = kind_of(constraint, description.outputs, index);

  const auto own = [&](const std::string& name) { return constraint.unknown + "." + name; };
  for (const auto& output : description.outputs) {
    model.connections.push_back({output, own(output), constraint.equation_location});
  }
  model.connections.push_back(
      {own(constraint_corrected_name), own(constraint_guess_name), constraint.equation_location});
  for (const auto& feed : constraint.feeds) {
    model.connections.push_back(
        {own(constraint_value_name), feed.input, feed.location, feed.factor});
  }
  SubsystemEntry entry;
  entry.description = describe_constraint(description);
  entry.location = constraint.location;
  entry.type.own().create = [description](const SubsystemEntry&, const SubsystemSettings&) {
    return make_constraint(describe_constraint(description), description);
  };
  index.subsystems.emplace(constraint.unknown, model.subsystems.size());
  for (const auto& output : entry.description.outputs) {
    index.outputs.variables.emplace(own(output.name), 0);
  }
  model.subsystems.push_back(std::move(entry));
}

}  // namespace

void connect_constraints(Model& model) {
  Index index = index_of(model);
  for (const auto& constraint : model.constraints) {
    connect(constraint, index, model);
  }
}

}  // namespace concord

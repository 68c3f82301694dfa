#include "modelfile/constraint_reader.hpp"

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

void check_unknown(const ConstraintEntry& constraint, const Model& model) {
  for (const auto& entry : model.subsystems) {
    if (entry.description.name == constraint.unknown) {
      throw InputError(constraint.location + ": the constraint's unknown '" + constraint.unknown +
                       "' has the name of a " +
                       (entry.description.constraint ? "constraint before" : "subsystem") +
                       "; give it another");
    }
  }
}

/// The outputs that the equation names, each once; refuses names that are no outputs.
std::vector<std::string> outputs_in(const ConstraintEntry& constraint, const std::string& place,
                                    const Model& model) {
  ExpressionNames known;
  for (const auto& entry : model.subsystems) {
    for (const auto& output : entry.description.outputs) {
      known.variables.emplace(entry.description.name + "." + output.name, 0);
    }
  }
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
Names felt_directly(Names inputs, const Model& model) {
  Names outputs;
  for (bool grows = true; grows;) {
    const std::size_t before = inputs.size() + outputs.size();
    for (const auto& entry : model.subsystems) {
      const auto& d = entry.description;
      for (const auto& [output, input] : d.feedthrough) {
        if (!d.constraint && inputs.contains(d.name + "." + d.inputs[input].name)) {
          outputs.insert(d.name + "." + d.outputs[output].name);
        }
      }
    }
    for (const auto& connection : model.connections) {
      if (outputs.contains(connection.from)) {
        inputs.insert(connection.to);
      }
    }
    grows = inputs.size() + outputs.size() > before;
  }
  return outputs;
}

ConstraintKind kind_of(const ConstraintEntry& constraint, const std::vector<std::string>& outputs,
                       const Model& model) {
  Names fed;
  for (const auto& feed : constraint.feeds) {
    fed.insert(feed.input);
  }
  const Names felt = felt_directly(std::move(fed), model);
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

void connect(const ConstraintEntry& constraint, Model& model) {
  check_unknown(constraint, model);
  check_feeds(constraint);
  ConstraintDescription description;
  description.unknown = constraint.unknown;
  description.start = constraint.start;
  description.equation = constraint.equation;
  description.place =
      constraint.equation_location + ": equation of constraint '" + constraint.unknown + "'";
  description.outputs = outputs_in(constraint, description.place, model);
  description.kind = kind_of(constraint, description.outputs, model);

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
  entry.create = [description](const SubsystemSettings&) {
    return make_constraint(describe_constraint(description), description);
  };
  model.subsystems.push_back(std::move(entry));
}

}  // namespace

void connect_constraints(Model& model) {
  for (const auto& constraint : model.constraints) {
    connect(constraint, model);
  }
}

}  // namespace concord

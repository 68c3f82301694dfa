#include "subsystem/equations/smooth_equations.hpp"

#include <algorithm>
#include <functional>

#include "concord/errors.hpp"
#include "expression/differentiation.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/program.hpp"
#include "expression/tree_walk.hpp"
#include "subsystem/equations/equations_checks.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

PlacedExpression placed(const EquationsDescription& description, const Text& entry,
                        const std::string& role) {
  return {entry.text, entry.location + ": subsystem '" + description.subsystem + "', " + role +
                          " '" + entry.name + "'"};
}

/// The derivatives in the order of the states.
std::vector<PlacedExpression> placed_derivatives(const EquationsDescription& description) {
  std::unordered_map<std::string, const Text*> by_state;
  for (const Text& entry : description.derivatives) {
    by_state.emplace(entry.name, &entry);
  }
  std::vector<PlacedExpression> result;
  for (const Number& state : description.states) {
    result.push_back(placed(description, *by_state.at(state.name), "derivative of"));
  }
  return result;
}

std::vector<PlacedExpression> placed_outputs(const EquationsDescription& description) {
  std::vector<PlacedExpression> result;
  for (const Text& entry : description.outputs) {
    result.push_back(placed(description, entry, "output"));
  }
  return result;
}

/// t, states, inputs and discrete variables are variables of the compiled expressions.
ExpressionNames point_names(const EquationsDescription& description) {
  ExpressionNames result;
  std::uint32_t place = 0;
  result.variables.emplace("t", place++);
  for (const auto* entries : {&description.states, &description.inputs, &description.discrete}) {
    for (const Number& entry : *entries) {
      result.variables.emplace(entry.name, place++);
    }
  }
  for (const Number& parameter : description.parameters) {
    result.constants.emplace(parameter.name, *parameter.value);
  }
  result.functions = description.functions;
  return result;
}

/// Goes from variable to variable that it uses.
class LoopSearch {
 public:
  explicit LoopSearch(const EquationsDescription& description) : description_(description) {
    for (const Text& variable : description.variables) {
      by_name_.emplace(variable.name, &variable);
    }
  }

  /// Throws InputError where the variable stands, by way of others, for itself.
  void refuse_loops() {
    for (const Text& variable : description_.variables) {
      visit(variable);
    }
  }

 private:
  void visit(const Text& variable) {
    if (done_.contains(variable.name)) {
      return;
    }
    if (!on_path_.insert(variable.name).second) {
      std::vector<std::string> loop(std::ranges::find(path_, variable.name), path_.end());
      loop.push_back(variable.name);
      refuse(description_, variable.location,
             "the variables " + joined(loop, " -> ") +
                 " use each other in a loop; make one of them a state, or solve for it");
    }
    path_.push_back(variable.name);
    if (path_.size() > most_levels) {
      refuse(description_, variable.location,
             "the variables '" + path_.front() + "', '" + path_[1] +
                 "' ... use each other more than " + std::to_string(most_levels) +
                 " levels deep; let them do with fewer");
    }
    for (const NameUse& use : names_used(variable.text)) {
      if (const auto other = by_name_.find(use.name); other != by_name_.end()) {
        visit(*other->second);
      }
    }
    path_.pop_back();
    on_path_.erase(variable.name);
    done_.insert(variable.name);
  }

  static constexpr std::size_t most_levels = 10000;

  const EquationsDescription& description_;
  std::unordered_map<std::string, const Text*> by_name_;
  std::vector<std::string> path_;
  std::unordered_set<std::string> on_path_, done_;
};

/// The variables' expressions by name.
std::unordered_map<std::string, Expression> definitions_of(
    const EquationsDescription& description) {
  LoopSearch(description).refuse_loops();
  ExpressionNames names = point_names(description);
  for (const Text& variable : description.variables) {
    names.definitions.emplace(variable.name, nullptr);
  }
  std::unordered_map<std::string, Expression> result;
  for (const Text& variable : description.variables) {
    result.emplace(variable.name,
                   read_expression(placed(description, variable, "variable"), names));
  }
  return result;
}

/// An expression in another unit; `what` it is, for messages.
Expression in_other_unit(const Expression& tree, const std::string& from, const std::string& to,
                         const PlacedExpression& text, const std::string& what) {
  const auto conversion = unit_conversion(from, to);
  const auto* const factors = std::get_if<UnitConversion>(&conversion);
  if (factors == nullptr) {
    refuse(text, 0,
           what + " is in " + in_quotes(from) + ", where " + in_quotes(to) +
               " is wanted, and there is no way from one to the other");
  }
  const Expression scaled =
      factors->factor == 1.0 ? tree : operation_node("*", {tree, number_node(factors->factor)});
  return factors->offset == 0.0 ? scaled
                                : operation_node("+", {scaled, number_node(factors->offset)});
}

/// Whether the value of such a node may step while its derivative is zero or that of its branch.
bool may_step(Operation operation) {
  return (operation >= Operation::less && operation <= Operation::unequal) ||
         (operation >= Operation::sign && operation <= Operation::rem);
}

}  // namespace

NamesBehind::NamesBehind(const EquationsDescription& description)
    : functions_(description.functions.get()) {
  for (const Text& variable : description.variables) {
    variables_.emplace(variable.name, &variable.text);
  }
}

const std::string* NamesBehind::text_of(const std::string& variable) const {
  const auto found = variables_.find(variable);
  return found == variables_.end() ? nullptr : found->second;
}

std::set<std::string> NamesBehind::operator()(const std::string& text) const {
  std::set<std::string> result;
  std::vector<const std::string*> open = {&text};
  while (!open.empty()) {
    const std::string& next = *open.back();
    open.pop_back();
    for (const std::string& name : direct(next)) {
      const std::string* const variable = text_of(name);
      if (result.insert(name).second && variable != nullptr) open.push_back(variable);
    }
  }
  return result;
}

std::vector<std::string> NamesBehind::direct(const std::string& text) const {
  std::vector<std::string> result;
  for (const NameUse& use : names_used(text)) {
    result.push_back(use.name);
    if (const UserFunction* called = use.called ? find_own(functions_, use.name) : nullptr) {
      result.insert(result.end(), called->parameters.begin(), called->parameters.end());
    }
  }
  return result;
}

std::unordered_set<std::string> NamesBehind::with_users(
    std::unordered_set<std::string> names) const {
  std::unordered_map<std::string, std::vector<const std::string*>> users;
  for (const auto& [variable, text] : variables_) {
    for (const std::string& name : direct(*text)) users[name].push_back(&variable);
  }
  std::vector<std::string> open(names.begin(), names.end());
  while (!open.empty()) {
    const auto found = users.find(open.back());
    open.pop_back();
    if (found == users.end()) continue;
    for (const std::string* user : found->second) {
      if (names.insert(*user).second) open.push_back(*user);
    }
  }
  return names;
}

SmoothEquations::SmoothEquations(const EquationsDescription& description, double part)
    : description_(description),
      part_(part),
      names_(point_names(description)),
      relations_([this](const std::string& name) { return moving_.contains(name); }) {
  names_.definitions = definitions_of(description);
  if (description_.functions) {
    calls_.emplace(*description_.functions, std::bind_front(&SmoothEquations::define, this));
    calls_->convert_arguments(std::bind_front(&SmoothEquations::in_unit, this));
    for (const Text& unit : description_.units) units_[unit.name] = unit.text;
  }
  find_moving();
  smooth_variables();
  const std::vector<PlacedExpression> derivatives = placed_derivatives(description),
                                      outputs = placed_outputs(description);
  for (std::size_t i = 0; i < derivatives.size(); ++i) {
    const std::string& unit = units_[description.states[i].name];
    derivatives_.push_back(smooth(derivatives[i], unit.empty() ? unit : "(" + unit + ")/s"));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs_.push_back(smooth(outputs[i], units_[description.outputs[i].name]));
  }
  for (const EquationsDescription::When& when : description_.whens) {
    read_when(when);
  }
  places_ = {description_.states.size(), description_.inputs.size(), description_.discrete.size(),
             relations_.all().size()};
  for (std::size_t i = 0; i < places_.relations; ++i) {
    const std::size_t place = places_.moving() + places_.discrete + i;
    names_.variables.emplace(Relations::name(i), static_cast<std::uint32_t>(place));
  }
}

void SmoothEquations::smooth_variables() {
  for (const Text& variable : description_.variables) {
    const Expression tree = written_out(names_.definitions.at(variable.name),
                                        placed(description_, variable, "variable"));
    names_.definitions.at(variable.name) = without_relations(tree).tree;
  }
}

/// What a call of a function needs is smooth as far as the call is.
void SmoothEquations::define(const std::string& name, const Expression& meaning,
                             FunctionCalls::Events events) {
  const auto [tree, moves] = events == FunctionCalls::Events::none
                                 ? Relations::Smooth{along_homotopy(meaning, part_), true}
                                 : without_relations(meaning);
  names_.definitions.emplace(name, tree);
  if (moves) moving_.insert(name);
}

/// Relations are the same ones along the whole homotopy.
Relations::Smooth SmoothEquations::without_relations(const Expression& tree) {
  const Expression actual = along_homotopy(tree, 1.0);
  has_homotopy_ = has_homotopy_ || actual != tree;
  if (part_ == 1.0) return relations_.taken_out_of(actual);
  const auto [smooth, moves] = relations_.taken_out_of(tree);
  return {along_homotopy(smooth, part_), moves};
}

Expression SmoothEquations::written_out(const Expression& tree, const PlacedExpression& text,
                                        FunctionCalls::Events events) {
  return calls_ ? calls_->written_out(tree, text, events) : tree;
}

/// A name that has a unit.
Expression SmoothEquations::in_unit(const Expression& argument, const MapData::Input& input,
                                    const PlacedExpression& text) const {
  const auto unit =
      argument->kind == ExpressionNode::Kind::name ? units_.find(argument->symbol) : units_.end();
  if (unit == units_.end()) {
    return argument;
  }
  return in_other_unit(
      argument, unit->second, input.unit, text,
      in_quotes(input.name) + " of the map, given by " + in_quotes(argument->symbol));
}

/// `unit`: that is wanted, of what is a map's value and nothing else.
Expression SmoothEquations::smooth(const PlacedExpression& text, const std::string& unit) {
  const Expression tree = read_expression(text, names_);
  const bool called = tree->kind == ExpressionNode::Kind::call;
  const UserFunction* const own =
      called ? find_own(description_.functions.get(), tree->symbol) : nullptr;
  Expression value = written_out(tree, text);
  if (own != nullptr && own->map) {
    value = in_other_unit(value, own->map->data().unit, unit, text,
                          "the value of the map " + in_quotes(own->name));
  }
  return without_relations(value).tree;
}

/// At the instant at which it is read nothing moves.
Expression SmoothEquations::as_it_is(const PlacedExpression& text) {
  return along_homotopy(
      written_out(read_expression(text, names_), text, FunctionCalls::Events::none), part_);
}

void SmoothEquations::find_moving() {
  moving_.insert("t");
  for (const auto* entries : {&description_.states, &description_.inputs}) {
    for (const Number& entry : *entries) {
      moving_.insert(entry.name);
    }
  }
  moving_ = NamesBehind(description_).with_users(std::move(moving_));
}

void SmoothEquations::read_when(const EquationsDescription::When& when) {
  const PlacedExpression condition{
      when.condition, when.location + ": subsystem '" + description_.subsystem + "', condition"};
  const std::string shown = when.every ? "every " + short_number(*when.every) : when.condition;
  EquationCondition result{
      when.says.empty() ? shown : when.says, when.every, when.offset, when.initially, {}};
  if (!when.every) {
    const std::size_t known = relations_.all().size();
    whens_.push_back(smooth(condition));
    if (!when.says.empty()) relations_.keep_quiet(known);
  }
  const auto place_in = [](const std::vector<Number>& entries, const std::string& name) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const Number& entry) { return entry.name == name; }) -
           entries.begin();
  };
  for (const Text& set : when.sets) {
    const auto state = static_cast<std::size_t>(place_in(description_.states, set.name));
    const auto discrete = static_cast<std::size_t>(place_in(description_.discrete, set.name));
    const bool is_state = state < description_.states.size();
    result.sets.push_back(
        {is_state, is_state ? state : discrete, set.location + ": set of " + in_quotes(set.name)});
    whens_.push_back(as_it_is(placed(description_, set, "set of")));
  }
  conditions_.push_back(std::move(result));
}

SignalKind SmoothEquations::kind(const Expression& output) const {
  ExpressionGraph graph;
  const NodeId root = graph.add(output, names_);
  const auto used = variables_used(graph, std::span(&root, 1));
  const auto moves = [&](std::uint32_t variable) { return variable < places_.moving(); };
  return !used.empty() && std::none_of(used.begin(), used.end(), moves) ? SignalKind::held
                                                                        : SignalKind::continuous;
}

bool SmoothEquations::linear_in_time(const Relation& relation, const ExpressionNames& names) const {
  if (relation.kind == Relation::Kind::equal) {
    return false;
  }
  ExpressionGraph graph;
  std::vector<NodeId> sides = {graph.add(relation.left, names)};
  if (relation.right) {
    sides.push_back(graph.add(relation.right, names));
  }
  const auto moves_with = [&](std::span<const NodeId> nodes) {
    std::vector<std::uint32_t> result = variables_used(graph, nodes);
    std::erase_if(result, [&](std::uint32_t variable) { return variable >= places_.moving(); });
    return result;
  };
  if (moves_with(sides) != std::vector<std::uint32_t>{0}) {
    return false;
  }
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (may_step(graph[node].operation) && !moves_with(std::span(&node, 1)).empty()) {
      return false;
    }
  }
  bool moves = false;
  for (const NodeId side : sides) {
    for (const auto& [variable, slope] : Differentiation(graph).gradient(side)) {
      moves = moves || variable == 0;
      if (variable == 0 && !moves_with(std::span(&slope, 1)).empty()) {
        return false;
      }
    }
  }
  return moves;
}

}  // namespace concord

#include "expression/expression_list.hpp"

#include <algorithm>

#include "expression/differentiation.hpp"
#include "expression/expression_scan.hpp"
#include "expression/function_calls.hpp"
#include "support/shared.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

void check_function(const PlacedExpression& expression, const NameUse& use,
                    const ExpressionNames& names) {
  const UserFunctions* const own = names.functions.get();
  if (find_function(use.name) || find_own(own, use.name) != nullptr) return;
  if (names.contains(use.name) || find_constant(use.name))
    refuse(expression, use.position,
           "'" + use.name + "' is not a function; write " + use.name + "*(...) to multiply");
  refuse(expression, use.position, unknown_function(use.name, own));
}

void check_variable(const PlacedExpression& expression, const NameUse& use,
                    const ExpressionNames& names) {
  if (names.contains(use.name) || find_constant(use.name)) return;
  if (find_function(use.name) || find_own(names.functions.get(), use.name) != nullptr)
    refuse(expression, use.position, "the function '" + use.name + "' needs its arguments in ( )");
  for (const auto& [word, sign] : {std::pair("and", "&&"), {"or", "||"}, {"not", "!"}})
    if (use.name == word)
      refuse(expression, use.position, std::string("write ") + sign + " for '" + word + "'");
  const std::vector<std::string> candidates = names.sorted();
  refuse(expression, use.position,
         "unknown name '" + use.name + "'; " + known("names", use.name, candidates));
}

}  // namespace

Expression read_expression(const PlacedExpression& expression, const ExpressionNames& names) {
  if (const ScanProblem problem = find_problem(expression.text); !problem.message.empty())
    refuse(expression, problem.position, problem.message);
  for (const NameUse& use : names_used(expression.text))
    use.called ? check_function(expression, use, names) : check_variable(expression, use, names);
  return parse_expression(expression, names.functions.get());
}

Expression read_whole_expression(const PlacedExpression& expression, ExpressionNames& names) {
  const Expression tree = read_expression(expression, names);
  if (!names.functions) return tree;
  const auto define = [&](const std::string& name, const Expression& meaning, auto) {
    names.definitions.emplace(name, meaning);
  };
  const std::string prefix = std::to_string(names.definitions.size()) + "_";
  return FunctionCalls(*names.functions, define, prefix).written_out(tree, expression);
}

/// Operations on constants are done where they are added.
double value_of(const Expression& tree, const ExpressionNames& names) {
  ExpressionGraph graph;
  const NodeId root = graph.add(tree, names);
  if (graph.is_constant(root)) return graph[root].value;
  double value = 0.0;
  ExpressionList::of_trees(std::span(&tree, 1), names, 0).evaluate(std::span(&value, 1));
  return value;
}

namespace {

/// What functions need is defined in a copy of the names.
ExpressionList compiled(std::span<const PlacedExpression> expressions, const ExpressionNames& names,
                        std::size_t variable_count) {
  std::vector<Expression> trees;
  if (!names.functions) {
    for (const PlacedExpression& expression : expressions)
      trees.push_back(read_expression(expression, names));
    return ExpressionList::of_trees(trees, names, variable_count);
  }
  ExpressionNames all = names;
  for (const PlacedExpression& expression : expressions)
    trees.push_back(read_whole_expression(expression, all));
  return ExpressionList::of_trees(trees, all, variable_count);
}

}  // namespace

/// Of both programs.
struct ExpressionList::Constants {
  std::vector<double> values, derivatives;
};

/// What lists that differ in constants only have in common.
struct ExpressionList::Form {
  Program values, derivatives;
  std::vector<Entry> entries;
  bool affine;

  bool operator==(const Form&) const = default;
  std::size_t hash() const { return values.hash() ^ (derivatives.hash() << 1); }
};

ExpressionList::ExpressionList(std::span<const PlacedExpression> expressions,
                               const ExpressionNames& names, std::size_t variable_count)
    : ExpressionList(compiled(expressions, names, variable_count)) {}

ExpressionList ExpressionList::of_trees(std::span<const Expression> trees,
                                        const ExpressionNames& names, std::size_t variable_count) {
  ExpressionGraph graph;
  std::vector<NodeId> roots, partials;
  std::vector<Entry> entries;
  bool affine = true;
  for (const Expression& tree : trees) roots.push_back(graph.add(tree, names));
  Differentiation differentiation(graph);
  for (std::uint32_t row = 0; row < roots.size(); ++row)
    for (const auto& [variable, value] : differentiation.gradient(roots[row])) {
      entries.push_back({row, variable});
      partials.push_back(value);
      affine = affine && graph.is_constant(value);
    }
  Constants constants;
  Program values(graph, roots, variable_count, constants.values);
  Program derivatives(graph, partials, variable_count, constants.derivatives);
  entries.shrink_to_fit();
  return {Shared<Form>::one_like(
              {std::move(values), std::move(derivatives), std::move(entries), affine}),
          constants};
}

ExpressionList::ExpressionList(std::shared_ptr<const Form> form, const Constants& constants)
    : form_(std::move(form)),
      values_({form_, &form_->values}, constants.values),
      derivatives_({form_, &form_->derivatives}, constants.derivatives),
      entries_(form_->entries),
      entry_values_(entries_.size()) {}

bool ExpressionList::affine() const { return form_->affine; }

std::span<const double> ExpressionList::differentiate() {
  const std::span<double> at = point();
  std::copy(at.begin(), at.end(), derivatives_.variables().begin());
  derivatives_.run(entry_values_);
  return entry_values_;
}

void ExpressionList::slopes(std::span<const double> direction, std::span<double> slopes) {
  const std::span<const double> values = differentiate();
  std::fill(slopes.begin(), slopes.end(), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto [row, variable] = entries_[k];
    if (direction[variable] != 0.0) slopes[row] += values[k] * direction[variable];
  }
}

}  // namespace concord

#include "expression/not_finite.hpp"

#include <cmath>
#include <set>
#include <unordered_map>

#include "expression/relations.hpp"
#include "expression/tree_walk.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

std::string number_text(double value) {
  return std::isnan(value)   ? "nan"
         : std::isinf(value) ? (value > 0.0 ? "inf" : "-inf")
                             : short_number(value);
}

class Search {
 public:
  Search(const ExpressionNames& names, const std::function<double(const std::string&)>& value)
      : names_(names), value_(value) {}

  std::string in(const Expression& tree) {
    const Found found = evaluate(tree);
    return found.culprit ? words_of(found.culprit) : "";
  }

 private:
  /// A value, and where it is not finite the innermost part that it comes from.
  struct Found {
    double value;
    Expression culprit;
  };

  Found evaluate(const Expression& tree) {
    return from_leaves<Found>(
        tree, [](const Expression&, std::vector<Found>&) { return false; },
        [this](const Expression& node, const std::vector<Found>& arguments) {
          return node->kind == Kind::number ? Found{node->value, nullptr}
                 : node->kind == Kind::name ? named(node)
                                            : operated(node, arguments);
        });
  }

  Found named(const Expression& node) {
    const auto definition = names_.definitions.find(node->symbol);
    if (definition != names_.definitions.end()) {
      const auto known = defined_.find(node->symbol);
      if (known != defined_.end()) return known->second;
      return defined_[node->symbol] = evaluate(definition->second);
    }
    const double value = value_(node->symbol);
    return {value, std::isfinite(value) ? nullptr : node};
  }

  static Found operated(const Expression& node, const std::vector<Found>& arguments) {
    const Operation operation = operation_of(*node);
    if (operation == Operation::select) return arguments[arguments[0].value != 0.0 ? 1 : 2];
    const auto at = [&](std::size_t i) { return i < arguments.size() ? arguments[i].value : 0.0; };
    double value = apply(operation, at(0), at(1), at(2));
    for (std::size_t i = 2; i < arguments.size() && argument_count(operation) == 2; ++i)
      value = apply(operation, value, at(i), 0.0);
    if (std::isfinite(value)) return {value, nullptr};
    for (const Found& argument : arguments)
      if (argument.culprit) return {value, argument.culprit};
    return {value, node};
  }

  std::string words_of(const Expression& culprit) {
    const double value = evaluate(culprit).value;
    if (culprit->symbol == "table inside") return outside(culprit);
    std::string where;
    std::set<std::string> seen;
    from_leaves<int>(
        culprit, [](const Expression&, std::vector<int>&) { return false; },
        [&](const Expression& node, const std::vector<int>&) {
          const bool shown = node->kind == Kind::name && node != culprit &&
                             !node->symbol.starts_with('#') && seen.insert(node->symbol).second;
          if (shown)
            where += (where.empty() ? " where " : ", ") + node->symbol + " = " +
                     number_text(evaluate(node).value);
          return 0;
        });
    return in_quotes(in_words(culprit)) + " is " + number_text(value) + where;
  }

  std::string outside(const Expression& culprit) {
    const NumberTable& points = NumberTable::of(culprit->arguments[0]->value);
    return points.name() + " is " + number_text(evaluate(culprit->arguments[1]).value) +
           ", where the map says nothing: its points go from " +
           number_text(points.numbers().front()) + " to " + number_text(points.numbers().back()) +
           "; give the map more points, or outside: hold or linear";
  }

  const ExpressionNames& names_;
  const std::function<double(const std::string&)>& value_;
  std::unordered_map<std::string, Found> defined_;
};

}  // namespace

std::string why_not_finite(const Expression& tree, const ExpressionNames& names,
                           const std::function<double(const std::string&)>& value) {
  return Search(names, value).in(tree);
}

}  // namespace concord

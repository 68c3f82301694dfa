#include "subsystem/equations/relation_guards.hpp"

#include <memory>
#include <string>
#include <utility>

#include "expression/program.hpp"

namespace concord {
namespace {

using Kind = ExpressionNode::Kind;

/// Goes down through what combines truths.
class Guards {
 public:
  explicit Guards(const SmoothEquations& equations)
      : equations_(equations), guards_(equations.places().relations, number_node(0.0)) {}

  /// Whatever else is.
  void always(const Expression& tree) {
    for (const std::size_t relation : relations_in(tree)) guards_[relation] = number_node(1.0);
  }

  void within(const Expression& tree, const Expression& guard) {
    const Expression& inner = defined(tree);
    const auto& [first, second] = sides(inner);
    if (is(inner, "&&") || is(inner, "||")) {
      within(first, beside(guard, second, is(inner, "&&")));
      within(second, beside(guard, first, is(inner, "&&")));
    } else if (is(inner, "!") || is(inner, "?")) {
      for (const Expression& argument : inner->arguments) within(argument, guard);
    } else {
      for (const std::size_t relation : relations_in(inner)) {
        guards_[relation] = operation_node("||", {guards_[relation], guard});
      }
    }
  }

  std::vector<Expression> take() { return std::move(guards_); }

 private:
  static bool is(const Expression& tree, const char* symbol) {
    return tree->kind == Kind::operation && tree->symbol == symbol;
  }

  static std::pair<Expression, Expression> sides(const Expression& tree) {
    const auto& all = tree->arguments;
    return all.size() == 2 ? std::pair(all[0], all[1]) : std::pair<Expression, Expression>();
  }

  const Expression& defined(const Expression& tree) const {
    const auto& definitions = equations_.names().definitions;
    const auto found =
        tree->kind == Kind::name ? definitions.find(tree->symbol) : definitions.end();
    return found == definitions.end() ? tree : defined(found->second);
  }

  /// The guard where what stands beside says nothing by itself: true, or not.
  Expression beside(const Expression& guard, const Expression& other, bool holds) const {
    for (const std::uint32_t variable : used(other)) {
      const std::size_t discrete = equations_.places().moving();
      if (variable < discrete || variable >= discrete + equations_.places().discrete) return guard;
    }
    return operation_node("&&", {guard, holds ? other : operation_node("!", {other})});
  }

  std::vector<std::uint32_t> used(const Expression& tree) const {
    ExpressionGraph graph;
    const NodeId root = graph.add(tree, equations_.names());
    return variables_used(graph, std::span(&root, 1));
  }

  std::vector<std::size_t> relations_in(const Expression& tree) const {
    const EquationPlaces& places = equations_.places();
    const std::size_t first = places.moving() + places.discrete;
    std::vector<std::size_t> result;
    for (const std::uint32_t variable : used(tree)) {
      if (variable >= first) result.push_back(variable - first);
    }
    return result;
  }

  const SmoothEquations& equations_;
  std::vector<Expression> guards_;
};

}  // namespace

std::vector<Expression> relation_guards(const SmoothEquations& equations) {
  Guards guards(equations);
  std::size_t when = 0;
  for (const EquationCondition& condition : equations.conditions()) {
    if (!condition.every) guards.within(equations.whens()[when++], number_node(1.0));
    when += condition.sets.size();
  }
  for (const auto* all : {&equations.derivatives(), &equations.outputs()}) {
    for (const Expression& tree : *all) guards.always(tree);
  }
  for (const Relation& relation : equations.relations()) {
    guards.always(relation.left);
    if (relation.right) guards.always(relation.right);
  }
  return guards.take();
}

}  // namespace concord

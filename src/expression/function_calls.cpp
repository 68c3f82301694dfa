#include "expression/function_calls.hpp"

#include <algorithm>

#include "expression/relations.hpp"
#include "expression/tree_walk.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t most_calls = 100000;

bool is_leaf(const Expression& tree) { return tree->arguments.empty(); }

}  // namespace

Expression FunctionCalls::written_out(const Expression& tree, const PlacedExpression& text,
                                      Events events) {
  text_ = &text;
  first_ = count_;
  in_no_event_ = events == Events::none ? 1 : 0;
  return with_bound(tree, {});
}

Expression FunctionCalls::with_bound(const Expression& tree, const Bound& bound) {
  const auto meet = [this](const Expression& node, std::vector<Expression>&) {
    in_no_event_ += is_no_event(*node) ? 1 : 0;
    return false;
  };
  const auto leave = [&](const Expression& node, const std::vector<Expression>& arguments) {
    in_no_event_ -= is_no_event(*node) ? 1 : 0;
    if (node->kind == Kind::name) {
      const auto argument = bound.find(node->symbol);
      return argument == bound.end() ? node : argument->second;
    }
    const UserFunction* const function =
        node->kind == Kind::call ? functions_.find(node->symbol) : nullptr;
    return function == nullptr ? with_arguments(node, arguments) : called(*function, arguments);
  };
  return from_leaves<Expression>(tree, meet, leave);
}

Expression FunctionCalls::called(const UserFunction& function,
                                 const std::vector<Expression>& arguments) {
  if (++count_ - first_ > most_calls)
    refuse(*text_, 0,
           "its functions call each other more than " + std::to_string(most_calls) +
               " times; let them do with fewer calls, or give what they share a name in variables");
  const std::string begin = function.name + "#" + prefix_ + std::to_string(count_) + ".";
  const auto define = [&](const std::string& name, const Expression& meaning) {
    return is_leaf(meaning) ? meaning : named(begin + name, meaning);
  };
  std::vector<Expression> leaves;
  Bound bound;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool converted = function.map && in_unit_;
    leaves.push_back(define(
        function.arguments[i],
        converted ? in_unit_(arguments[i], function.map->data().inputs[i], *text_) : arguments[i]));
    bound.emplace(function.arguments[i], leaves.back());
  }
  return function.map ? function.map->of(leaves, define) : with_bound(function.body, bound);
}

/// What has got a name before keeps it.
Expression FunctionCalls::named(const std::string& name, const Expression& meaning) {
  const Events events = in_no_event_ > 0 ? Events::none : Events::yes;
  auto& known = named_[{events, in_words(meaning)}];
  if (!known) {
    known = name_node(name);
    define_(name, meaning, events);
  }
  return known;
}

}  // namespace concord

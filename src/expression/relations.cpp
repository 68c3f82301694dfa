#include "expression/relations.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "expression/tree_walk.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

/// How strongly an operation binds, beside others; calls and names the most.
int binding(const ExpressionNode& tree) {
  static const std::unordered_map<std::string, int> of = {
      {"?", 0}, {"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<", 4}, {"<=", 4},
      {">", 4}, {">=", 4}, {"+", 5},  {"-", 5},  {"*", 6},  {"/", 6}, {"^", 8}};
  if (tree.kind == Kind::number && tree.symbol.empty() && tree.value < 0.0) return 7;
  if (tree.kind != Kind::operation) return 9;
  return tree.arguments.size() == 1 ? 7 : of.at(tree.symbol);
}

std::string short_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// An operation whose arguments are in words already.
std::string words(const ExpressionNode& tree, const std::vector<std::string>& arguments) {
  const auto bracketed = [&](std::size_t i, bool loose) {
    const int inner = binding(*tree.arguments[i]), outer = binding(tree);
    return inner < outer || (inner == outer && loose) ? "(" + arguments[i] + ")" : arguments[i];
  };
  if (tree.kind == Kind::number) return tree.symbol.empty() ? short_text(tree.value) : tree.symbol;
  if (tree.kind == Kind::name) return tree.symbol;
  if (tree.kind == Kind::call && tree.symbol == simplified_side) return arguments[0];
  if (tree.kind == Kind::call) {
    std::string text = tree.symbol + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
    return text + ")";
  }
  if (arguments.size() == 1) return tree.symbol + bracketed(0, true);
  if (tree.symbol == "?")
    return bracketed(0, true) + " ? " + bracketed(1, false) + " : " + bracketed(2, false);
  const bool tight = tree.symbol == "*" || tree.symbol == "/" || tree.symbol == "^";
  const std::string sign = tight ? tree.symbol : " " + tree.symbol + " ";
  return bracketed(0, tree.symbol == "^") + sign + bracketed(1, tree.symbol != "^");
}

bool is_relation(const ExpressionNode& tree) {
  static const std::string all[] = {"<", "<=", ">", ">=", "==", "!="};
  return tree.kind == Kind::operation &&
         std::find(std::begin(all), std::end(all), tree.symbol) != std::end(all);
}

bool has_steps(const ExpressionNode& tree) {
  static const std::string all[] = {"abs",  "min",   "max", "sign", "floor",
                                    "ceil", "round", "mod", "rem"};
  return tree.kind == Kind::call &&
         std::find(std::begin(all), std::end(all), tree.symbol) != std::end(all);
}

/// Whether the relation or step has a value that changes at events only.
bool is_held(const ExpressionNode& tree) {
  static const std::string moving[] = {"abs", "min", "max", "mod", "rem"};
  return std::find(std::begin(moving), std::end(moving), tree.symbol) == std::end(moving);
}

}  // namespace

std::string in_words(const Expression& tree) {
  return from_leaves<std::string>(
      tree, [](const Expression&, std::vector<std::string>&) { return false; },
      [](const Expression& now, const std::vector<std::string>& arguments) {
        return words(*now, arguments);
      });
}

Relations::Smooth Relations::taken_out_of(const Expression& tree) {
  const auto whole = [](const Expression& now, std::vector<Smooth>& results) {
    if (!is_no_event(*now)) return false;
    results.push_back({now, true});
    return true;
  };
  const auto make = [this](const Expression& now, const std::vector<Smooth>& arguments) {
    return now->arguments.empty() ? leaf(now) : rebuilt(now, arguments);
  };
  return from_leaves<Smooth>(tree, whole, make);
}

Relations::Smooth Relations::leaf(const Expression& tree) const {
  return {tree, tree->kind == Kind::name && moves_(tree->symbol)};
}

Relations::Smooth Relations::rebuilt(const Expression& tree, const std::vector<Smooth>& arguments) {
  bool moves = false;
  std::vector<Expression> parts;
  for (const Smooth& argument : arguments) {
    moves = moves || argument.moves;
    parts.push_back(argument.tree);
  }
  if (moves && (is_relation(*tree) || has_steps(*tree)))
    return {smooth(*tree, parts, in_words(tree)), !is_held(*tree)};
  if (is_homotopy(*tree)) moves = arguments.front().moves;
  return {with_arguments(tree, parts), moves};
}

Expression Relations::smooth(const ExpressionNode& tree, const std::vector<Expression>& arguments,
                             const std::string& text) {
  using R = Relation::Kind;
  const std::string& what = tree.symbol;
  const Expression& a = arguments.front();
  const Expression& b = arguments.back();
  const Expression zero = number_node(0.0);
  if (what == "<") return variable(R::less, a, b, text);
  if (what == ">") return variable(R::less, b, a, text);
  if (what == "<=") return variable(R::less_equal, a, b, text);
  if (what == ">=") return variable(R::less_equal, b, a, text);
  if (what == "==") return variable(R::equal, a, b, text);
  if (what == "!=") return operation_node("!", {variable(R::equal, a, b, text)});
  if (what == "abs")
    return operation_node("?",
                          {variable(R::less_equal, zero, a, text), a, operation_node("-", {a})});
  if (what == "sign")
    return operation_node("-",
                          {variable(R::less, zero, a, text), variable(R::less, a, zero, text)});
  if (what == "floor") return floor(a, text);
  if (what == "ceil") return ceil(a, text);
  if (what == "round")
    return towards_zero(a, floor(operation_node("+", {a, number_node(0.5)}), text),
                        ceil(operation_node("-", {a, number_node(0.5)}), text), text);
  const Expression quotient = operation_node("/", {a, b});
  if (what == "mod")
    return operation_node("-", {a, operation_node("*", {b, floor(quotient, text)})});
  if (what == "rem") {
    const Expression whole =
        towards_zero(quotient, floor(quotient, text), ceil(quotient, text), text);
    return operation_node("-", {a, operation_node("*", {b, whole})});
  }
  return smallest(arguments, what == "max", text);
}

Expression Relations::smallest(const std::vector<Expression>& arguments, bool largest,
                               const std::string& text) {
  Expression result = arguments.front();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Expression& other = arguments[i];
    const Expression& low = largest ? other : result;
    const Expression& high = largest ? result : other;
    const Expression ordered = variable(Relation::Kind::less_equal, low, high, text);
    result = operation_node("?", {ordered, result, other});
  }
  return result;
}

Expression Relations::floor(const Expression& a, const std::string& text) {
  return variable(Relation::Kind::floor, a, nullptr, text);
}

Expression Relations::ceil(const Expression& a, const std::string& text) {
  return operation_node("-", {floor(operation_node("-", {a}), text)});
}

/// One of two, by the sign of a.
Expression Relations::towards_zero(const Expression& a, Expression positive, Expression negative,
                                   const std::string& text) {
  return operation_node("?", {variable(Relation::Kind::less_equal, number_node(0.0), a, text),
                              std::move(positive), std::move(negative)});
}

/// Equal relations share a variable.
Expression Relations::variable(Relation::Kind kind, Expression left, Expression right,
                               std::string text) {
  std::string key = std::to_string(static_cast<int>(kind)) + " " + in_words(left);
  if (right) key += " ~ " + in_words(right);
  const auto [found, is_new] = known_.emplace(std::move(key), relations_.size());
  if (is_new) relations_.push_back({kind, std::move(left), std::move(right), std::move(text)});
  return name_node(name(found->second));
}

}  // namespace concord

#include "export/c_tangents.hpp"

#include <string_view>

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

/// d f(a) / d a of functions of one argument, in the values a of the argument and v of the
/// function.
struct Slope {
  std::string_view function, slope;
};

constexpr Slope slopes[] = {
    {"sin", "cos(a)"},
    {"cos", "-sin(a)"},
    {"tan", "1.0 + v * v"},
    {"asin", "1.0 / sqrt(1.0 - a * a)"},
    {"acos", "-1.0 / sqrt(1.0 - a * a)"},
    {"atan", "1.0 / (1.0 + a * a)"},
    {"sinh", "cosh(a)"},
    {"cosh", "sinh(a)"},
    {"tanh", "1.0 - v * v"},
    {"asinh", "1.0 / sqrt(a * a + 1.0)"},
    {"acosh", "1.0 / sqrt(a * a - 1.0)"},
    {"atanh", "1.0 / (1.0 - a * a)"},
    {"exp", "v"},
    {"log", "1.0 / a"},
    {"ln", "1.0 / a"},
    {"log10", "1.0 / (a * log(10.0))"},
    {"log2", "1.0 / (a * log(2.0))"},
    {"sqrt", "0.5 / v"},
    {"cbrt", "1.0 / (3.0 * v * v)"},
    {"abs", "sign(a)"},
    {"noEvent", "1.0"},
    {"no_event", "1.0"},
    {"pre", "1.0"},
};

std::string_view slope_of(const std::string& function) {
  for (const Slope& entry : slopes)
    if (entry.function == function) return entry.slope;
  return {};
}

/// The slope with the argument and the value put in; both are names.
std::string filled_in(std::string_view slope, const std::string& argument,
                      const std::string& value) {
  std::string result;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    const auto is_letter = [&](std::size_t k) { return slope[k] >= 'a' && slope[k] <= 'z'; };
    const bool alone =
        (i == 0 || !is_letter(i - 1)) && (i + 1 == slope.size() || !is_letter(i + 1));
    if (alone && slope[i] == 'a')
      result += argument;
    else if (alone && slope[i] == 'v')
      result += value;
    else
      result += slope[i];
  }
  return result;
}

/// a + b, where either may be empty: zero.
std::string summed(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return a + " + " + b;
}

}  // namespace

std::string CTangents::stored(const std::string& text) {
  const std::string name = "v" + std::to_string(++count_);
  statements_ += "  const double " + name + " = " + text + ";\n";
  return name;
}

/// The value as a name or number of C, which is computed once.
std::string CTangents::value(const Expression& expression) {
  const ExpressionNode& node = *expression;
  if (node.kind == Kind::number) return c_number(node, names_);
  if (node.kind == Kind::name) {
    const auto definition = definitions_.find(node.symbol);
    return definition == definitions_.end() ? names_.at(node.symbol).value
                                            : value(definition->second);
  }
  if (const auto known = values_.find(&node); known != values_.end()) return known->second;
  CNames stored_arguments;
  ExpressionNode shallow = node;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const std::string symbol = std::to_string(i);
    stored_arguments[symbol].value = value(node.arguments[i]);
    shallow.arguments[i] = std::make_shared<ExpressionNode>(Kind::name, 0.0, symbol);
  }
  const std::string name =
      stored(c_expression(std::make_shared<ExpressionNode>(shallow), stored_arguments));
  return values_[&node] = name;
}

std::string CTangents::tangent(const Expression& expression) {
  if (expression->kind == Kind::number) return "";
  if (expression->kind == Kind::name) {
    const auto definition = definitions_.find(expression->symbol);
    return definition == definitions_.end() ? names_.at(expression->symbol).tangent
                                            : tangent(definition->second);
  }
  const auto known = tangents_.find(expression.get());
  if (known != tangents_.end()) return known->second;
  const std::string text = derived(expression);
  return tangents_[expression.get()] = text.empty() ? "" : stored(text);
}

std::string CTangents::derived(const Expression& expression) {
  const std::string& symbol = expression->symbol;
  const auto& a = expression->arguments;
  if (symbol == "?" || symbol == "if") return of_choice(a);
  if (symbol == "^" || symbol == "pow") return of_power(a[0], a[1]);
  if (symbol == "min" || symbol == "max") return of_extremum(*expression);
  return expression->kind == Kind::operation ? of_operation(expression) : of_function(expression);
}

std::string CTangents::of_operation(const Expression& expression) {
  const std::string& symbol = expression->symbol;
  const auto& a = expression->arguments;
  if (symbol.find_first_of("!<>=&|") != std::string::npos) return "";
  const std::string first = tangent(a[0]);
  if (a.size() == 1) return first.empty() ? "" : "-" + first;
  const std::string second = tangent(a[1]);
  if (first.empty() && second.empty()) return "";
  if (symbol == "+") return summed(first, second);
  if (symbol == "-") return second.empty() ? first : first + " - " + second;
  if (symbol == "*")
    return summed(first.empty() ? "" : first + " * " + value(a[1]),
                  second.empty() ? "" : value(a[0]) + " * " + second);
  if (second.empty()) return first + " / " + value(a[1]);
  return "(" + first + " - " + value(expression) + " * " + second + ") / " + value(a[1]);
}

/// d a^b = b a^(b-1) da + a^b ln(a) db.
std::string CTangents::of_power(const Expression& base, const Expression& exponent) {
  const auto by_base = [&] {
    const std::string b = value(exponent);
    return b + " * pow(" + value(base) + ", " + b + " - 1.0)";
  };
  const auto by_exponent = [&] {
    const std::string a = value(base);
    return "pow(" + a + ", " + value(exponent) + ") * log(" + a + ")";
  };
  const std::string first = chain(base, by_base);
  return summed(first, chain(exponent, by_exponent));
}

/// Coefficients stay while the place moves.
std::string CTangents::of_table(const std::string& function, const std::vector<Expression>& a) {
  if (function == "table inside") return tangent(a[1]);
  if (function != "table place") return "";
  return chain(a[1], [&] { return "table_slope(" + value(a[0]) + ", " + value(a[1]) + ")"; });
}

std::string CTangents::of_function(const Expression& expression) {
  const auto& a = expression->arguments;
  if (expression->symbol.starts_with("table ")) return of_table(expression->symbol, a);
  if (a.size() == 2) return of_two(expression->symbol, a[0], a[1]);
  const std::string_view slope = slope_of(expression->symbol);
  if (slope.empty()) return "";
  return chain(a[0], [&] {
    const std::string own = slope.find('v') == std::string_view::npos ? "" : value(expression);
    return filled_in(slope, value(a[0]), own);
  });
}

std::string CTangents::of_two(const std::string& function, const Expression& a,
                              const Expression& b) {
  const auto quotient = [&](const std::string& sign, const Expression& above) {
    const std::string p = value(a), q = value(b);
    const std::string below = function == "hypot"
                                  ? "hypot(" + p + ", " + q + ")"
                                  : "(" + p + " * " + p + " + " + q + " * " + q + ")";
    return sign + value(above) + " / " + below;
  };
  const auto whole_times = [&] {
    return (function == "mod" ? "-floor(" : "-trunc(") + value(a) + " / " + value(b) + ")";
  };
  std::string first;
  if (function == "hypot") {
    first = chain(a, [&] { return quotient("", a); });
    return summed(first, chain(b, [&] { return quotient("", b); }));
  }
  if (function == "atan2") {
    first = chain(a, [&] { return quotient("", b); });
    return summed(first, chain(b, [&] { return quotient("-", a); }));
  }
  first = tangent(a);
  return summed(first, chain(b, whole_times));
}

/// The slope of the argument that is chosen.
std::string CTangents::of_extremum(const ExpressionNode& node) {
  const bool least = node.symbol == "min";
  bool moves = false;
  for (const Expression& argument : node.arguments) moves = moves || !tangent(argument).empty();
  if (!moves) return "";
  const auto or_zero = [&](const Expression& argument) {
    const std::string moved = tangent(argument);
    return moved.empty() ? "0.0" : moved;
  };
  std::string best = value(node.arguments[0]), slope = or_zero(node.arguments[0]);
  for (std::size_t i = 1; i < node.arguments.size(); ++i) {
    const std::string other = value(node.arguments[i]);
    slope = stored("(" + other + (least ? " < " : " > ") + best + " ? " +
                   or_zero(node.arguments[i]) + " : " + slope + ")");
    if (i + 1 < node.arguments.size())
      best = stored((least ? "lesser(" : "greater(") + best + ", " + other + ")");
  }
  return slope;
}

std::string CTangents::of_choice(const std::vector<Expression>& arguments) {
  const std::string yes = tangent(arguments[1]), no = tangent(arguments[2]);
  if (yes.empty() && no.empty()) return "";
  return "(" + value(arguments[0]) + " != 0.0 ? " + (yes.empty() ? "0.0" : yes) + " : " +
         (no.empty() ? "0.0" : no) + ")";
}

std::string CTangents::chain(const Expression& argument,
                             const std::function<std::string()>& slope) {
  const std::string moved = tangent(argument);
  return moved.empty() ? "" : "chain(" + slope() + ", " + moved + ")";
}

}  // namespace concord

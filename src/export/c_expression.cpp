#include "export/c_expression.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "expression/functions.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

/// Functions that have another name in C.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"ln", "log"},
    {"abs", "fabs"},
    {"mod", "modulo"},
    {"rem", "fmod"},
    {"table at", "table_at"},
    {"table place", "table_place"},
    {"table inside", "table_inside"}};

std::string function_in_c(const std::string& name) {
  for (const auto& [own, in_c] : other_names)
    if (own == name) return std::string(in_c);
  return name;
}

/// How strongly the C text of a node holds together.
enum Strength { sum = 1, product = 2, sign = 3, whole = 4 };

struct CText {
  std::string text;
  Strength strength = whole;

  std::string at_least(Strength needed) const {
    return strength < needed ? "(" + text + ")" : text;
  }
};

class CWriter {
 public:
  explicit CWriter(const CNames& names) : names_(names) {}

  CText write(const Expression& expression) const {
    const ExpressionNode& node = *expression;
    switch (node.kind) {
      case Kind::number:
        return {c_number(node, names_)};
      case Kind::name:
        return {names_.at(node.symbol).value};
      case Kind::operation:
        return operation(node);
      case Kind::call:
        return call(node);
    }
    return {};
  }
  std::string text(const Expression& expression) const { return write(expression).text; }

 private:
  CText operation(const ExpressionNode& node) const {
    const auto& a = node.arguments;
    const std::string& symbol = node.symbol;
    if (symbol == "?") return choice(a[0], a[1], a[2]);
    if (symbol == "!") return {"truth(" + write(a[0]).at_least(sign) + " == 0.0)"};
    if (a.size() == 1) return {"-" + write(a[0]).at_least(whole), sign};
    if (symbol == "^") return {"pow(" + text(a[0]) + ", " + text(a[1]) + ")"};
    if (symbol == "+" || symbol == "-")
      return {write(a[0]).at_least(sum) + " " + symbol + " " + write(a[1]).at_least(product), sum};
    if (symbol == "*" || symbol == "/")
      return {write(a[0]).at_least(product) + " " + symbol + " " + write(a[1]).at_least(sign),
              product};
    if (symbol == "&&" || symbol == "||")
      return {"truth(" + truth(a[0]) + " " + symbol + " " + truth(a[1]) + ")"};
    return {"truth(" + text(a[0]) + " " + symbol + " " + text(a[1]) + ")"};
  }

  std::string truth(const Expression& expression) const {
    return "(" + text(expression) + " != 0.0)";
  }

  CText choice(const Expression& condition, const Expression& yes, const Expression& no) const {
    return {"(" + truth(condition) + " ? " + text(yes) + " : " + text(no) + ")"};
  }

  CText call(const ExpressionNode& node) const {
    const auto& a = node.arguments;
    if (node.symbol == "if") return choice(a[0], a[1], a[2]);
    if (node.symbol == "min" || node.symbol == "max") {
      std::string result = text(a[0]);
      for (std::size_t i = 1; i < a.size(); ++i)
        result = (node.symbol == "min" ? "lesser(" : "greater(") + result + ", " + text(a[i]) + ")";
      return {result, a.size() == 1 ? write(a[0]).strength : whole};
    }
    if (find_function(node.symbol)->operation == Operation::no_event) return write(a[0]);
    std::string list;
    for (const Expression& argument : a) list += (list.empty() ? "" : ", ") + text(argument);
    return {function_in_c(node.symbol) + "(" + list + ")"};
  }

  const CNames& names_;
};

}  // namespace

std::string c_number(double value) {
  if (std::isnan(value)) return "NAN";
  char buffer[40];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return value < 0.0 ? "(" + text + ")" : text;
}

std::string c_number(const ExpressionNode& number, const CNames& names) {
  return number.symbol.empty() ? c_number(number.value) : names.at(number.symbol).value;
}

std::string c_expression(const Expression& expression, const CNames& names) {
  return CWriter(names).text(expression);
}

}  // namespace concord

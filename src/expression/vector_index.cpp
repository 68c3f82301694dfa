#include "expression/vector_index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

std::string_view without_margins(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

std::string element_name(const std::string& name, std::span<const long> indices) {
  std::string result = name;
  for (const long index : indices) {
    result += result.size() == name.size() ? '[' : ',';
    result += std::to_string(index);
  }
  return result + "]";
}

std::string in_words(const VectorShape& shape) {
  std::string result = shape.size() == 1 ? "a vector of " : "a matrix of ";
  for (std::size_t i = 0; i < shape.size(); ++i)
    result += (i > 0 ? " x " : "") + std::to_string(shape[i]);
  return result + " elements";
}

std::size_t element_count(const VectorShape& shape) {
  std::size_t result = 1;
  for (const long count : shape) result *= static_cast<std::size_t>(count);
  return result;
}

std::vector<long> indices_at(std::size_t place, const VectorShape& shape) {
  std::vector<long> result(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto count = static_cast<std::size_t>(shape[d]);
    result[d] = static_cast<long>(place % count);
    place /= count;
  }
  return result;
}

struct IndexExpression::Content {
  PlacedExpression expression;
  std::vector<std::string> variables;
  std::vector<std::size_t> used;  ///< places of variables
  mutable ExpressionList list;
};

namespace {

/// The variables, and those numbers that the index names.
ExpressionNames names_of_index(const PlacedExpression& index,
                               std::span<const std::string> variables, VectorScope& scope) {
  ExpressionNames names;
  names.functions = scope.functions;
  for (std::size_t i = 0; i < variables.size(); ++i)
    names.variables[variables[i]] = static_cast<std::uint32_t>(i);
  for (const NameUse& use : names_used(index.text)) {
    const auto number = scope.numbers->find(use.name);
    if (names.variables.contains(use.name)) continue;
    if (scope.moving.contains(use.name))
      refuse(index, use.position,
             in_quotes(use.name) +
                 " is no parameter; sizes and indices are known when the model is read");
    if (number == scope.numbers->end()) continue;
    names.constants.insert(*number);
    scope.fixed.insert(use.name);
  }
  return names;
}

}  // namespace

IndexExpression::IndexExpression(const PlacedExpression& whole, std::size_t position,
                                 const std::string& text, std::span<const std::string> variables,
                                 VectorScope& scope) {
  const PlacedExpression expression{
      std::string(without_margins(text)),
      whole.place + ": the index " + in_quotes(without_margins(text))};
  if (expression.text.empty()) refuse(whole, position, "an index is missing");
  std::vector<std::size_t> used;
  for (const NameUse& use : names_used(text)) {
    const auto found = std::ranges::find(variables, use.name);
    if (found != variables.end())
      used.push_back(static_cast<std::size_t>(found - variables.begin()));
  }
  content_ = std::make_unique<Content>(
      Content{expression,
              {variables.begin(), variables.end()},
              std::move(used),
              ExpressionList(std::span(&expression, 1),
                             names_of_index(expression, variables, scope), variables.size())});
}

IndexExpression::~IndexExpression() = default;
IndexExpression::IndexExpression(IndexExpression&&) noexcept = default;
IndexExpression& IndexExpression::operator=(IndexExpression&&) noexcept = default;

long IndexExpression::at(std::span<const double> variables) const {
  constexpr double most = 1e7;
  std::copy_n(variables.begin(), content_->variables.size(), content_->list.point().begin());
  double value = 0.0;
  content_->list.evaluate(std::span(&value, 1));
  if (value == std::floor(value) && std::abs(value) <= most) return static_cast<long>(value);
  refuse(content_->expression, 0,
         "its value is " + short_number(value) + where(variables) +
             "; it must be a whole number up to 1e7");
}

std::string IndexExpression::where(std::span<const double> variables) const {
  std::string result;
  for (const std::size_t i : content_->used)
    result += (result.empty() ? " at " : ", ") + content_->variables[i] + " = " +
              short_number(variables[i]);
  return result;
}

bool IndexExpression::names_among(std::size_t count) const {
  return std::ranges::any_of(content_->used, [&](std::size_t i) { return i < count; });
}

const std::string& IndexExpression::text() const { return content_->expression.text; }

}  // namespace concord

#include "modelfile/yaml/repetition.hpp"

#include <cmath>
#include <span>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "modelfile/yaml/constants.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr double most = 1e7;  // rounds

double whole(const NodeReader& node, const Constants& constants) {
  const double value = node.number(constants);
  if (value != std::floor(value) || std::abs(value) > most) {
    node.fail("must be a whole number, not " + short_number(value));
  }
  return value;
}

std::string computed_index(const std::string& text, const ExpressionNames& names,
                           const std::string& place) {
  if (text == ":" || text == "*") {
    return text;
  }
  const PlacedExpression index{text, place};
  double value = 0.0;
  ExpressionList(std::span(&index, 1), names, 0).evaluate(std::span(&value, 1));
  if (value != std::floor(value) || std::abs(value) > most) {
    throw InputError(place + ": the index " + in_quotes(text) + " is " + short_number(value) +
                     ", not a whole number");
  }
  return std::to_string(static_cast<long>(value));
}

/// "i+1" or "i,2": commas outside parentheses separate dimensions.
std::string indices(const std::string& text, const ExpressionNames& names,
                    const std::string& place) {
  std::string result;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && depth == 0) {
      result += computed_index(text.substr(begin, i - begin), names, place) + ",";
      begin = i + 1;
    }
  }
  return result + computed_index(text.substr(begin), names, place);
}

}  // namespace

std::vector<Repetition> repetitions(const NodeReader& node, const Constants& constants) {
  const std::vector<Field> fields = node.named_fields("index", "");
  if (fields.size() != 1) {
    node.fail("must name one index and its range: repeat: {i: [1, 10]}");
  }
  refuse_taken_name(fields.front());
  const auto& [index, location, range] = fields.front();
  if (!range.is_list()) {
    range.fail("must be a range: " + index + ": [1, " +
               (range.is_null() || range.is_map() ? "10" : range.text()) + "]");
  }
  const std::vector<NodeReader> ends = range.items("end of the range");
  if (ends.size() != 2) {
    range.fail("must be a range [first, last]");
  }
  const double first = whole(ends[0], constants), last = whole(ends[1], constants);
  if (last < first) {
    range.fail("must not end before it begins");
  }
  std::vector<Repetition> result;
  for (double value = first; value <= last; ++value) {
    result.push_back({index, static_cast<long>(value)});
  }
  return result;
}

std::string with_index(const std::string& text, const Repetition& repetition,
                       const Constants& constants, const std::string& place) {
  ExpressionNames names;
  names.constants = constants.values;
  names.functions = constants.functions;
  names.constants[repetition.index] = static_cast<double>(repetition.value);
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', at)) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) {
      throw InputError(place + ": '[' without ']' in " + in_quotes(text));
    }
    result += text.substr(at, open + 1 - at);
    result += indices(text.substr(open + 1, close - open - 1), names, place) + "]";
    at = close + 1;
  }
  return result + text.substr(at);
}

}  // namespace concord

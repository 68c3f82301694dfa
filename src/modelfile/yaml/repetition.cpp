#include "modelfile/yaml/repetition.hpp"

#include <cmath>
#include <utility>

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

IndexedText::IndexedText(const std::string& text, const std::string& index,
                         const Constants& constants, const std::string& place)
    : place_(place) {
  std::size_t at = 0;
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', at)) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) {
      throw InputError(place + ": '[' without ']' in " + in_quotes(text));
    }
    if (at == 0) {
      names_.constants = constants.values;
      names_.functions = constants.functions;
      names_.constants[index] = 0.0;
    }
    before_ += text.substr(at, open + 1 - at);
    add_indices(text.substr(open + 1, close - open - 1));
    before_ += "]";
    at = close + 1;
  }
  before_ += text.substr(at);
}

/// "i+1" or "i,2": commas outside parentheses separate dimensions.
void IndexedText::add_indices(const std::string& text) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && depth == 0) {
      add_index(text.substr(begin, i - begin));
      before_ += ",";
      begin = i + 1;
    }
  }
  add_index(text.substr(begin));
}

void IndexedText::add_index(const std::string& text) {
  if (text == ":" || text == "*") {
    before_ += text;
    return;
  }
  pieces_.push_back(
      {std::exchange(before_, ""), text, read_whole_expression({text, place_}, names_)});
}

std::string IndexedText::in(const Repetition& round) {
  if (!pieces_.empty()) names_.constants[round.index] = static_cast<double>(round.value);
  std::string result;
  for (const auto& [before, text, index] : pieces_) {
    const double value = value_of(index, names_);
    if (value != std::floor(value) || std::abs(value) > most) {
      throw InputError(place_ + ": the index " + in_quotes(text) + " is " + short_number(value) +
                       ", not a whole number");
    }
    result += before + std::to_string(static_cast<long>(value));
  }
  return result + before_;
}

}  // namespace concord

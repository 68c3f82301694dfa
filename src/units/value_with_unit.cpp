#include "units/value_with_unit.hpp"

#include <cctype>

#include "support/wording.hpp"

namespace concord {
namespace {

/// Letters, "%", "°C".
bool begins_unit(char first) {
  const auto code = static_cast<unsigned char>(first);
  return std::isalpha(code) != 0 || first == '%' || code >= 0x80;
}

}  // namespace

std::optional<ValueWithUnit> value_with_unit(std::string_view text) {
  const std::size_t end = text.find(' ');
  const std::size_t begin = text.find_first_not_of(' ', end);
  if (end == text.npos || begin == text.npos || !begins_unit(text[begin])) return std::nullopt;
  const auto number = parse_number(text.substr(0, end));
  if (!number) return std::nullopt;
  return ValueWithUnit{*number, std::string(text.substr(begin))};
}

}  // namespace concord

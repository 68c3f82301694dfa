#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace concord {

/// A number with its unit: "36 km/h".
struct ValueWithUnit {
  double number = 0.0;
  std::string unit;
};

/// Nothing where the text is not a number, a space, and what may be a unit; no expression reads so.
std::optional<ValueWithUnit> value_with_unit(std::string_view text);

}  // namespace concord

#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace concord {

/// JSON knows no infinity, and no NaN: null.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace concord

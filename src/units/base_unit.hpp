#pragma once

#include <array>

namespace concord {

/// The base units of FMI and SSP, in their order.
constexpr std::array<const char*, 8> base_unit_names = {"kg", "m",   "s",  "A",
                                                        "K",  "mol", "cd", "rad"};

/// A unit in base units: value in base units = factor * value + offset.
struct BaseUnit {
  std::array<int, 8> exponents{};
  double factor = 1.0;
  double offset = 0.0;
};

}  // namespace concord

#pragma once

#include <vector>

#include "network/network.hpp"

namespace concord {

/// A direct constraint (index 1) and the subsystems that carry it: those in its equation whose
/// outputs answer directly to its unknown. Global indices, ascending.
struct CarriedConstraint {
  std::size_t constraint = 0;
  std::vector<std::size_t> carriers;
};

std::vector<CarriedConstraint> carried_constraints(const Network& network);

}  // namespace concord

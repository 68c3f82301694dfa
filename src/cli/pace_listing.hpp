#pragma once

#include "network/model.hpp"

namespace concord {

/// For `check` and `placement`: which groups -cosim_paces auto makes, their rates, and what they
/// save, or why there are none.
void print_pace_listing(const Paces& paces);

}  // namespace concord

#pragma once

#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// Throws InputError where an expression adds, compares or chooses among different dimensions,
/// takes a function of what has one, or has another one than what it gives the value of. What has
/// no unit, and numbers as they are written, may have any: where no unit is given nothing is asked.
void check_dimensions(const EquationsDescription& description);

}  // namespace concord

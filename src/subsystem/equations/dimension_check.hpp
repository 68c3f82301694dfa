#pragma once

#include <string>
#include <vector>

#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// Throws InputError where an expression adds, compares or chooses among different dimensions, or
/// takes a function of what has one. Returns, a line each, which of them have another dimension
/// than what they give the value of. What has no unit, and numbers as they are written, may have
/// any: where no unit is given nothing is asked.
std::vector<std::string> check_dimensions(const EquationsDescription& description);

}  // namespace concord

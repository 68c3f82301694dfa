#pragma once

#include <string>
#include <vector>

#include "coupling/method.hpp"

namespace concord {

/// Why subsystems with a step of their own (`step:`) cannot have it under this method, or in this
/// model, a line for each reason; empty where they can.
std::vector<std::string> slow_step_problems(const Method& method, const Model& model);

}  // namespace concord

#pragma once

#include "support/foreign_call.hpp"

namespace concord {

/// In a handler of what a user's code has thrown: the same as a SimulationError that says where,
/// "derivatives at t = 0.5 s: no such file", before the start "derivatives: no such file".
[[noreturn]] void throw_in_words(const ForeignPlace& place, const char* function);

}  // namespace concord

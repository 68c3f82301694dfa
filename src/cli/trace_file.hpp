#pragma once

#include <string>

#include "simulation/simulation_core.hpp"

namespace concord {

/// Intervals of each rank that -cosim_trace keeps; the first ones.
constexpr std::size_t most_traced = 1'000'000;

/// What each rank did when, in Chrome's trace event format: a process for each rank, a thread for
/// its phases and one for each of its subsystems. By the first rank; throws InputError where that
/// cannot write it. Collective.
void write_trace_file(const std::string& path, const SimulationCore& simulation);

}  // namespace concord

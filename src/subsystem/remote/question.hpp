#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace concord {

/// What a run asks a process outside (doc/remote_subsystems.md), from the bytes of a message: a map
/// without lists in lists in lists. Throws SimulationError where it is none.
nlohmann::json read_question(std::span<const std::uint8_t> bytes);

}  // namespace concord

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace concord {

/// What a run's time goes into; `step`, whole macro-steps, contains all but the last two, and
/// `solve` (of the coupling), which may contain advance and exchange, contains no estimate.
enum class Phase : std::uint8_t { step, advance, exchange, solve, estimate, record, checkpoint };
inline constexpr std::size_t n_phases = 7;
inline constexpr std::array<const char*, n_phases> phase_words = {
    "step", "advance", "exchange", "solve", "estimate", "record", "checkpoint"};

}  // namespace concord

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cli/resampling.hpp"
#include "record/results_reader.hpp"

namespace concord {

/// [columns]: as results have them.
std::vector<SignalRows> read_signals(const ResultsReader& results, Quantity quantity,
                                     std::span<const std::size_t> columns);

}  // namespace concord

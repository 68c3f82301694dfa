#pragma once

#include <span>
#include <vector>

#include "record/results_reader.hpp"

namespace concord {

/// `values`, one per row, with what was before the event in front of each of the `rows` (ascending)
/// at events; the value itself where `left` (one per event) is empty.
std::vector<double> with_left_limits(std::span<const double> values,
                                     std::span<const std::size_t> rows,
                                     std::span<const double> left);

/// The rows at events.
std::vector<std::size_t> rows_at_events(const ResultsReader& results);

}  // namespace concord

#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"
#include "record/results_reader.hpp"

namespace concord {

/// One number of a recorded variable: its last value, its extremes (left limits at events among
/// them), or its root mean square over time. These go along the curve between rows, too, since
/// macro-steps may be long.
enum class Statistic { last, min, max, rms };

/// "left.x:max"
struct ChosenResult {
  std::string variable;
  Statistic statistic = Statistic::last;
};
std::string name_of(const ChosenResult& result);

/// From "left.x:max,right.*"; without a statistic the last value, without any text the last value
/// of every output. Throws InputError for what the model does not have.
std::vector<ChosenResult> chosen_results(const std::vector<std::string>& lists,
                                         const Network& network);

/// Of a results file. Throws InputError for what was not recorded.
std::vector<double> result_values(const ResultsReader& results,
                                  const std::vector<ChosenResult>& chosen);

}  // namespace concord

#include "cli/signal_rows.hpp"

#include <string>
#include <utility>

namespace concord {

std::vector<SignalRows> read_signals(const ResultsReader& results, Quantity quantity,
                                     std::span<const std::size_t> columns) {
  std::vector<SignalRows> signals(columns.size());
  const auto take = [&](std::vector<std::vector<double>> read,
                        std::vector<double> SignalRows::*part) {
    for (std::size_t i = 0; i < signals.size(); ++i) signals[i].*part = std::move(read[i]);
  };
  take(results.read_columns(quantity, columns), &SignalRows::values);
  take(results.read_left_columns(quantity, columns), &SignalRows::left);
  const std::string slopes = slopes_of(quantity);
  if (results.columns(slopes) == 0 || !results.knows_slopes()) return signals;
  take(results.read_columns(slopes, columns), &SignalRows::slopes);
  take(results.read_left_columns(slopes, columns), &SignalRows::left_slopes);
  return signals;
}

}  // namespace concord

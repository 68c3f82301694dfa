#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/resampling.hpp"
#include "record/results_reader.hpp"

namespace concord {

/// Recorded signals as they are drawn: rows, both limits at events, and, where macro-steps are
/// long, points between rows, as `compare` finds them.
class DenseCurves {
 public:
  /// `results` must outlive it. `range`: only this time, in s, and the next row on either side;
  /// at least `least` points in it.
  explicit DenseCurves(const ResultsReader& results,
                       std::optional<std::pair<double, double>> range = std::nullopt,
                       std::size_t least = 1000);

  /// In s, that of an event twice.
  std::span<const double> time() const { return time_; }
  /// Of a variable at time(), in the unit to show it in.
  std::vector<double> values(const RecordedVariable& variable) const;
  /// The same in its own unit; NaN where what was before an event is not known.
  std::vector<double> own_values(const RecordedVariable& variable) const;

 private:
  const ResultsReader& results_;
  std::optional<Resampling> between_;  ///< none: rows are dense enough
  std::vector<std::size_t> events_;    ///< rows, of points where there are some between
  std::size_t begin_ = 0, end_ = 0;    ///< that are drawn, with both rows at events
  std::vector<double> time_;
};

/// A recorded variable at the times of `between`, right limits at events.
std::vector<double> resampled(const ResultsReader& results, const RecordedVariable& variable,
                              const Resampling& between);

}  // namespace concord

#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "record/recorded_series.hpp"

namespace concord {

/// Rows, macro-steps and events that are not in the file yet: this rank's part of them.
class RowBuffer {
 public:
  /// Holds `capacity` of each. `layout` must outlive it.
  RowBuffer(MPI_Comm comm, const ResultsLayout& layout, std::size_t capacity);

  // Whether it is full.
  bool add_row(const ResultsRow& row);
  bool add_step(const ResultsRow& end, const StepSums& step);
  bool add_event(const ResultsRow& left, const ResultsRow& right, RecordedEvent event);

  Lengths lengths() const { return {rows_, steps_, events_.size()}; }
  bool empty() const { return rows_ == 0 && steps_ == 0 && events_.empty(); }

  /// Where the numbers are, which stay until something is added.
  std::vector<RecordedSeries>& series() { return series_; }
  const std::vector<RecordedSeries>& series() const { return series_; }

  /// What is added next is in place of what there was; the texts of that.
  std::vector<RecordedEvent> begin_anew();

 private:
  RowExchange* exchange_of(MPI_Comm comm, const RecordedColumns* columns);
  void keep(Extent extent, std::size_t row, const ResultsRow& values, const StepSums& steps);

  std::size_t capacity_;
  std::map<const RecordedColumns*, RowExchange> exchanges_;
  std::vector<RecordedSeries> series_;
  std::size_t rows_ = 0, steps_ = 0;
  std::vector<RecordedEvent> events_;  ///< whose limits are in the series
};

}  // namespace concord

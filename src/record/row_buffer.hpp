#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "record/recorded_series.hpp"

namespace concord {

/// What has texts, which every rank has whole.
struct BufferedTexts {
  std::vector<RecordedEvent> events;  ///< whose limits are in the series
  std::vector<RecordedText> changes;  ///< whose times are
};

/// Rows, macro-steps and events that are not in the file yet: this rank's part of them.
class RowBuffer {
 public:
  /// Holds `capacity` of each. `layout` must outlive it.
  RowBuffer(MPI_Comm comm, const ResultsLayout& layout, std::size_t capacity);

  // Whether it is full.
  bool add_row(const ResultsRow& row);
  bool add_step(const ResultsRow& end, const StepSums& step);
  bool add_event(const ResultsRow& left, const ResultsRow& right, RecordedEvent event);
  bool add_text(RecordedText text);

  Lengths lengths() const { return {rows_, steps_, texts_.events.size(), texts_.changes.size()}; }
  const BufferedTexts& texts() const { return texts_; }
  bool empty() const { return Lengths().covers(lengths()); }

  /// Where the numbers are, which stay until something is added.
  std::vector<RecordedSeries>& series() { return series_; }
  const std::vector<RecordedSeries>& series() const { return series_; }

  /// What is added next is in place of what there was; the texts of that.
  BufferedTexts begin_anew();

 private:
  RowExchange* exchange_of(MPI_Comm comm, const RecordedColumns* columns);
  void keep(Extent extent, std::size_t row, const ResultsRow& values, const StepSums& steps);

  std::size_t capacity_;
  std::map<const RecordedColumns*, RowExchange> exchanges_;
  std::vector<RecordedSeries> series_;
  std::size_t rows_ = 0, steps_ = 0;
  BufferedTexts texts_;
  std::size_t text_bytes_ = 0;  ///< of changes
};

}  // namespace concord

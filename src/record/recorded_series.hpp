#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "record/growing_dataset.hpp"
#include "record/results_schema.hpp"
#include "record/row_exchange.hpp"

namespace concord {

/// A dataset that grows with the run: this rank's part of the rows in memory, and its place in the
/// file.
class RecordedSeries {
 public:
  /// `rows` fit into memory. `exchange` is that of the columns, none where there are none.
  RecordedSeries(const ResultsDataset& dataset, const ResultsLayout& layout, RowExchange* exchange,
                 std::size_t rows);

  Extent extent() const { return dataset_->extents[0]; }
  /// Of events.
  Limit limit() const { return std::get<RowNumbers>(dataset_->content).limit; }

  /// Keeps a row in memory.
  void keep(std::size_t row, const ResultsRow& values, const StepSums& steps);

  void open(hid_t file) { file_.emplace(file, dataset_->path.c_str()); }
  void close() { file_.reset(); }
  GrowingDataset& file() { return *file_; }
  const GrowingDataset& file() const { return *file_; }

  /// Of the rows in memory, all columns, as memory_type(): on the first rank, valid until rows are
  /// kept or the next call. Collective.
  const void* whole_rows(RowBlock rows);
  hid_t memory_type() const;

 private:
  std::byte* row(std::size_t index) { return bytes_.get() + index * row_bytes_; }

  const ResultsDataset* dataset_;
  const RecordedColumns* columns_ = nullptr;
  RowExchange* exchange_;
  std::size_t inner_ = 1;  ///< numbers per column
  std::size_t rows_, row_bytes_;
  std::unique_ptr<std::byte[]> bytes_;
  std::optional<GrowingDataset> file_;
};

/// Bytes of a row in the file, of all columns.
std::size_t row_bytes(const ResultsDataset& dataset, const ResultsLayout& layout);

/// The columns of a dataset; none where each row has one number.
const RecordedColumns* columns_of(const ResultsDataset& dataset, const ResultsLayout& layout);

}  // namespace concord

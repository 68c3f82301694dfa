#include "record/row_buffer.hpp"

namespace concord {
namespace {

/// Of texts that wait; the changes that every rank has are the same.
constexpr std::size_t most_text_bytes = std::size_t{8} << 20;

/// For rows that are no macro-steps' own.
const StepSums& no_step() {
  static const StepSums none;
  return none;
}

}  // namespace

RowBuffer::RowBuffer(MPI_Comm comm, const ResultsLayout& layout, std::size_t capacity)
    : capacity_(capacity) {
  for (const ResultsDataset& dataset : results_datasets())
    if (dataset.grows() && dataset.number != Number::text && dataset.exists(layout))
      series_.emplace_back(dataset, layout, exchange_of(comm, columns_of(dataset, layout)),
                           capacity);
}

RowExchange* RowBuffer::exchange_of(MPI_Comm comm, const RecordedColumns* columns) {
  if (columns == nullptr) return nullptr;
  const auto known = exchanges_.find(columns);
  if (known != exchanges_.end()) return &known->second;
  return &exchanges_.try_emplace(columns, comm, *columns).first->second;
}

void RowBuffer::keep(Extent extent, std::size_t row, const ResultsRow& values,
                     const StepSums& steps) {
  for (RecordedSeries& series : series_)
    if (series.extent() == extent) series.keep(row, values, steps);
}

bool RowBuffer::add_row(const ResultsRow& row) {
  keep(Extent::rows, rows_, row, no_step());
  return ++rows_ == capacity_;
}

bool RowBuffer::add_step(const ResultsRow& end, const StepSums& step) {
  keep(Extent::steps, steps_, end, step);
  return ++steps_ == capacity_;
}

bool RowBuffer::add_event(const ResultsRow& left, const ResultsRow& right, RecordedEvent event) {
  for (RecordedSeries& series : series_)
    if (series.extent() == Extent::events)
      series.keep(texts_.events.size(), series.limit() == Limit::left ? left : right, no_step());
  texts_.events.push_back(std::move(event));
  return texts_.events.size() == capacity_;
}

bool RowBuffer::add_text(RecordedText text) {
  keep(Extent::texts, texts_.changes.size(), {text.time, {}, {}, {}, {}}, no_step());
  text_bytes_ += text.value.size();
  texts_.changes.push_back(std::move(text));
  return texts_.changes.size() == capacity_ || text_bytes_ >= most_text_bytes;
}

BufferedTexts RowBuffer::begin_anew() {
  rows_ = steps_ = text_bytes_ = 0;
  return std::exchange(texts_, {});
}

}  // namespace concord

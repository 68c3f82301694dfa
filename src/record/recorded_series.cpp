#include "record/recorded_series.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

namespace concord {
namespace {

std::size_t bytes_of(Number number) {
  return number == Number::i32 ? sizeof(std::int32_t) : sizeof(double);
}

/// Numbers per column.
std::size_t inner_of(const ResultsDataset& dataset, const ResultsLayout& layout) {
  return dataset.extents.size() > 2 ? size_of(dataset.extents[2], layout) : 1;
}

/// Nothing has touched it yet: pages are taken when rows fill them.
std::unique_ptr<std::byte[]> untouched(std::size_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
}

}  // namespace

std::size_t row_bytes(const ResultsDataset& dataset, const ResultsLayout& layout) {
  const std::size_t columns = dataset.extents.size() > 1 ? size_of(dataset.extents[1], layout) : 1;
  return columns * inner_of(dataset, layout) * bytes_of(dataset.number);
}

const RecordedColumns* columns_of(const ResultsDataset& dataset, const ResultsLayout& layout) {
  const auto* numbers = std::get_if<RowNumbers>(&dataset.content);
  return numbers != nullptr && numbers->columns != nullptr ? &(layout.*numbers->columns) : nullptr;
}

RecordedSeries::RecordedSeries(const ResultsDataset& dataset, const ResultsLayout& layout,
                               RowExchange* exchange, std::size_t rows)
    : dataset_(&dataset),
      columns_(columns_of(dataset, layout)),
      exchange_(exchange),
      inner_(inner_of(dataset, layout)),
      rows_(rows),
      row_bytes_((columns_ == nullptr ? 1 : columns_->column.size()) * inner_ *
                 bytes_of(dataset.number)),
      bytes_(untouched(rows_ * row_bytes_)) {}

void RecordedSeries::keep(std::size_t index, const ResultsRow& values, const StepSums& steps) {
  std::byte* to = row(index);
  if (const auto* numbers = std::get_if<RowNumbers>(&dataset_->content)) {
    numbers->fill(values,
                  columns_ == nullptr ? std::span<const std::size_t>() : columns_->local_index,
                  {reinterpret_cast<double*>(to), row_bytes_ / sizeof(double)});
    return;
  }
  const double number = steps[std::get<StepNumber>(dataset_->content).index];
  if (dataset_->number == Number::i32) {
    const auto whole = static_cast<std::int32_t>(number);
    std::memcpy(to, &whole, sizeof whole);
  } else {
    std::memcpy(to, &number, sizeof number);
  }
}

const void* RecordedSeries::whole_rows(RowBlock rows) {
  if (exchange_ == nullptr) return row(rows.first);
  const std::span<const double> own(reinterpret_cast<const double*>(bytes_.get()),
                                    rows_ * row_bytes_ / sizeof(double));
  return exchange_->whole_rows(own, rows, inner_).data();
}

hid_t RecordedSeries::memory_type() const {
  return dataset_->number == Number::i32 ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE;
}

}  // namespace concord

#include "record/row_exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace concord {
namespace {

std::vector<std::vector<std::size_t>> gather_columns(MPI_Comm comm, int ranks,
                                                     const std::vector<std::size_t>& own) {
  const int size = static_cast<int>(own.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), starts(sizes.size() + 1, 0);
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  for (std::size_t r = 0; r < sizes.size(); ++r) starts[r + 1] = starts[r] + sizes[r];
  std::vector<std::size_t> all(static_cast<std::size_t>(starts.back()));
  static_assert(sizeof(std::size_t) == sizeof(unsigned long));
  MPI_Allgatherv(own.data(), size, MPI_UNSIGNED_LONG, all.data(), sizes.data(), starts.data(),
                 MPI_UNSIGNED_LONG, comm);
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t r = 0; r < sizes.size(); ++r)
    result.emplace_back(all.begin() + starts[r], all.begin() + starts[r + 1]);
  return result;
}

bool one_owner_each(const std::vector<std::vector<std::size_t>>& columns_of_rank,
                    std::size_t total) {
  std::vector<char> owned(total, 0);
  std::size_t count = 0;
  for (const auto& columns : columns_of_rank) {
    if (!std::is_sorted(columns.begin(), columns.end())) return false;
    for (const std::size_t column : columns) {
      if (column >= total || owned[column]) return false;
      owned[column] = 1;
      ++count;
    }
  }
  return count == total;
}

}  // namespace

RowExchange::RowExchange(MPI_Comm comm, const RecordedColumns& columns)
    : comm_(comm), total_(columns.total) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  columns_of_rank_ = gather_columns(comm, ranks_, columns.column);
  if (!one_owner_each(columns_of_rank_, total_))
    throw std::logic_error("every recorded column needs exactly one rank, in ascending order");
  if (ranks_ == 1) columns_of_rank_ = {};
}

std::span<const double> RowExchange::whole_rows(std::span<const double> own, RowBlock rows,
                                                std::size_t inner) {
  if (ranks_ == 1) return own.subspan(rows.first * total_ * inner, rows.count * total_ * inner);
  gather(own, rows, inner);
  if (rank_ != 0) return {};
  put_in_columns(rows.count, inner);
  return std::span<const double>(whole_).first(rows.count * total_ * inner);
}

void RowExchange::gather(std::span<const double> own, RowBlock rows, std::size_t inner) {
  const auto width_of = [&](int rank) {
    return columns_of_rank_[static_cast<std::size_t>(rank)].size() * inner;
  };
  std::vector<int> count, start;
  int received = 0;
  for (int r = 0; rank_ == 0 && r < ranks_; ++r) {
    start.push_back(received);
    count.push_back(static_cast<int>(rows.count * width_of(r)));
    received += count.back();
  }
  received_.resize(std::max(received_.size(), static_cast<std::size_t>(received)));
  const std::size_t own_width = width_of(rank_);
  MPI_Gatherv(own.data() + rows.first * own_width, static_cast<int>(rows.count * own_width),
              MPI_DOUBLE, received_.data(), count.data(), start.data(), MPI_DOUBLE, 0, comm_);
}

void RowExchange::put_in_columns(std::size_t rows, std::size_t inner) {
  whole_.resize(std::max(whole_.size(), rows * total_ * inner));
  const double* from = received_.data();
  for (const auto& columns : columns_of_rank_)
    for (std::size_t row = 0; row < rows; ++row)
      for (const std::size_t column : columns) {
        std::copy_n(from, inner, whole_.data() + (row * total_ + column) * inner);
        from += inner;
      }
}

}  // namespace concord

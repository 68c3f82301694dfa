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

RowBlock part_of(RowBlock rows, int rank, int ranks) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(ranks);
  const std::size_t begin = rows.count * r / n, end = rows.count * (r + 1) / n;
  return {rows.first + begin, end - begin};
}

RowExchange::RowExchange(MPI_Comm comm, const RecordedColumns& columns)
    : comm_(comm), total_(columns.total) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  columns_of_rank_ = gather_columns(comm, ranks_, columns.column);
  if (!one_owner_each(columns_of_rank_, total_))
    throw std::logic_error("every recorded column needs exactly one rank, in ascending order");
}

std::span<const double> RowExchange::whole_rows(std::span<const double> own, RowBlock rows,
                                                std::size_t inner) {
  if (ranks_ == 1) return own.subspan(rows.first * total_ * inner, rows.count * total_ * inner);
  send_and_receive(own, rows, inner);
  const std::size_t own_rows = part_of(rows, rank_, ranks_).count;
  put_in_columns(own_rows, inner);
  return std::span<const double>(whole_).first(own_rows * total_ * inner);
}

void RowExchange::send_and_receive(std::span<const double> own, RowBlock rows, std::size_t inner) {
  const std::size_t own_width = columns_of_rank_[static_cast<std::size_t>(rank_)].size() * inner;
  const std::size_t own_rows = part_of(rows, rank_, ranks_).count;
  std::vector<int> send_count, send_start, receive_count, receive_start;
  int received = 0;
  for (int r = 0; r < ranks_; ++r) {
    const RowBlock theirs = part_of(rows, r, ranks_);
    const std::size_t their_width = columns_of_rank_[static_cast<std::size_t>(r)].size() * inner;
    send_start.push_back(static_cast<int>(theirs.first * own_width));
    send_count.push_back(static_cast<int>(theirs.count * own_width));
    receive_start.push_back(received);
    receive_count.push_back(static_cast<int>(own_rows * their_width));
    received += receive_count.back();
  }
  received_.resize(std::max(received_.size(), static_cast<std::size_t>(received)));
  MPI_Alltoallv(own.data(), send_count.data(), send_start.data(), MPI_DOUBLE, received_.data(),
                receive_count.data(), receive_start.data(), MPI_DOUBLE, comm_);
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

#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "record/results_content.hpp"

namespace concord {

/// A range of buffered rows.
struct RowBlock {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Turns columns per rank into whole rows on the first rank, which writes them: one writer knows in
/// which order the file changes.
class RowExchange {
 public:
  /// Collective. Throws std::logic_error, on every rank alike, unless every column 0..total-1 has
  /// exactly one owner and every rank lists its columns in ascending order.
  RowExchange(MPI_Comm comm, const RecordedColumns& columns);

  std::size_t total() const { return total_; }

  /// `own` holds this rank's columns of the buffered rows, [rows, own columns, inner]. Gives whole
  /// rows, [rows, total, inner], on the first rank, valid until `own` changes or the next call;
  /// nothing on others. Collective.
  std::span<const double> whole_rows(std::span<const double> own, RowBlock rows, std::size_t inner);

 private:
  void gather(std::span<const double> own, RowBlock rows, std::size_t inner);
  void put_in_columns(std::size_t rows, std::size_t inner);

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  std::size_t total_ = 0;
  std::vector<std::vector<std::size_t>> columns_of_rank_;  ///< none where there is one rank
  std::vector<double> received_, whole_;
};

}  // namespace concord

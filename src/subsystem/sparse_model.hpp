#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace concord {

/// Where a square matrix may be other than zero, column by column; its diagonal is among them.
struct ColumnPattern {
  std::vector<std::int64_t> begins;  ///< of each column among the rows, then their number
  std::vector<std::int64_t> rows;    ///< ascending in each column
};

/// A model that knows which of its derivatives depend on which states.
class SparseModel {
 public:
  virtual ~SparseModel() = default;

  /// Of f_x, at every point; another object where parameters have changed it.
  virtual std::shared_ptr<const ColumnPattern> state_pattern() const = 0;

  /// The entries of f_x in the pattern's order.
  virtual void state_entries(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> entries) = 0;
};

}  // namespace concord

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "concord/ode_model.hpp"

namespace concord {

/// Where a square matrix may be other than zero, column by column; its diagonal is among them.
struct ColumnPattern {
  /// From how many states on, and up to which share of entries, the structure is used. KLU needs
  /// 0.01 to 0.45 of the time of dense factors there, whatever the pattern, and 0.03 to 1.4 where
  /// it orders its elimination anew (32 to 512 states); fewer states take microseconds either way.
  static constexpr std::size_t fewest_states = 32, least_sparsity = 4;

  std::vector<std::int64_t> begins;  ///< of each column among the rows, then their number
  std::vector<std::int64_t> rows;    ///< ascending in each column

  std::size_t size() const { return begins.size() - 1; }
  bool is_sparse() const {
    return size() >= fewest_states && least_sparsity * rows.size() <= size() * size();
  }
  /// Of the rows and entries of a column.
  std::size_t begin(std::size_t column) const { return static_cast<std::size_t>(begins[column]); }
  std::size_t end(std::size_t column) const { return begin(column + 1); }
  std::size_t row(std::size_t entry) const { return static_cast<std::size_t>(rows[entry]); }
};

/// Where a matrix may be other than zero, row by row; columns ascend in each.
struct RowPattern {
  std::vector<int> begins{0};  ///< of each row among the columns, then their number
  std::vector<int> columns;

  std::size_t rows() const { return begins.size() - 1; }
  void end_row() { begins.push_back(static_cast<int>(columns.size())); }
  bool operator==(const RowPattern&) const = default;
};

/// The same of a Linearization, whose values are then the entries in this order.
struct LinearPattern {
  RowPattern f_x, f_u, g_x, g_u;

  std::size_t entries() const {
    return f_x.columns.size() + f_u.columns.size() + g_x.columns.size() + g_u.columns.size();
  }
  bool operator==(const LinearPattern&) const = default;
};

/// A model that knows what depends on what.
class SparseModel {
 public:
  virtual ~SparseModel() = default;

  /// Of f_x, at every point; another object where parameters have changed it.
  virtual std::shared_ptr<const ColumnPattern> state_pattern() const = 0;

  /// The entries of f_x in the pattern's order.
  virtual void state_entries(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> entries) = 0;

  /// Of f and g by states and inputs, at every point; another object where parameters have changed
  /// it.
  virtual std::shared_ptr<const LinearPattern> linear_pattern() const = 0;

  /// The entries of f_x and so on in the pattern's order.
  virtual void linear_entries(double t, std::span<const double> x, std::span<const double> u,
                              const Jacobians& entries) = 0;
};

}  // namespace concord

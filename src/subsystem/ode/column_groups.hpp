#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Groups of states that no f_i or g_i depends on together, so that one difference gives all their
/// columns of f_x and g_x at once (Curtis, Powell and Reid 1974).
class ColumnGroups {
 public:
  /// Adds the nonzeros of f_x (n x n) and g_x (n_out x n), row-major, to the pattern and groups
  /// anew.
  void learn(std::span<const double> f_x, std::span<const double> g_x, std::size_t n);

  /// Whether a pattern is known and groups spare most of the work.
  bool useful() const { return !groups_.empty() && 4 * groups_.size() <= rows_.size(); }

  const std::vector<std::vector<std::size_t>>& groups() const { return groups_; }

  /// Rows of f_x, then n + rows of g_x, that may be nonzero in the column.
  std::span<const std::size_t> rows(std::size_t column) const { return rows_[column]; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, rows_, groups_); }

 private:
  std::vector<std::vector<std::size_t>> rows_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace concord

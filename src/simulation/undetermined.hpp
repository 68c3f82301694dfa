#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

namespace concord {

/// Equations (rows) and unknowns (columns) that do not go together.
struct Undetermined {
  /// More equations than unknowns in them.
  std::vector<Eigen::Index> many_equations, few_unknowns;
  /// More unknowns than equations that they are in.
  std::vector<Eigen::Index> few_equations, many_unknowns;
};

/// By the structure of a square matrix alone: where no matching of all rows and columns is (Dulmage
/// and Mendelsohn 1958); nothing where there is one.
std::optional<Undetermined> structurally_undetermined(const Eigen::MatrixXd& matrix);

/// Where the matrix is singular by its numbers: rows that depend on each other, columns that do.
struct Dependent {
  std::vector<Eigen::Index> rows, columns;
};
std::optional<Dependent> dependent(const Eigen::MatrixXd& matrix);

}  // namespace concord

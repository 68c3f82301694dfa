#include "coupling/points/matched_scales.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace concord {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr auto none = static_cast<std::size_t>(-1);

/// Assignment of least cost, an entry's cost being -log2 |a|. Of the potentials u of rows and v of
/// columns, u_i + v_j <= cost_ij, with equality where i and j are matched.
class Assignment {
 public:
  Assignment(std::span<const std::size_t> row_starts, std::span<const std::size_t> columns,
             std::span<const double> values)
      : row_starts_(row_starts),
        columns_(columns),
        costs_(values.size()),
        u_(row_starts.size() - 1, infinite),
        v_(u_.size(), 0.0),
        column_of_(u_.size(), none),
        row_of_(u_.size(), none),
        distance_(u_.size()),
        reached_from_(u_.size()) {
    std::transform(values.begin(), values.end(), costs_.begin(),
                   [](double value) { return -std::log2(std::abs(value)); });
  }

  bool solve() {
    if (std::any_of(costs_.begin(), costs_.end(), [](double c) { return !(c > -infinite); })) {
      return false;
    }
    if (!take_cheapest()) {
      return false;
    }
    for (std::size_t row = 0; row < u_.size(); ++row) {
      if (column_of_[row] == none && !match(row)) {
        return false;
      }
    }
    return true;
  }

  MatchedScales scales() const { return {powers(u_), powers(v_)}; }

 private:
  static std::vector<double> powers(const std::vector<double>& exponents) {
    std::vector<double> result(exponents.size());
    std::transform(exponents.begin(), exponents.end(), result.begin(),
                   [](double exponent) { return std::exp2(std::round(exponent)); });
    return result;
  }

  /// Each row's cheapest column, as long as it is free. False where a row has nothing but zeros.
  bool take_cheapest() {
    for (std::size_t row = 0; row < u_.size(); ++row) {
      std::size_t cheapest = none;
      for (std::size_t e = row_starts_[row]; e < row_starts_[row + 1]; ++e) {
        if (costs_[e] < u_[row]) {
          u_[row] = costs_[e];
          cheapest = columns_[e];
        }
      }
      if (cheapest == none) {
        return false;
      }
      if (row_of_[cheapest] == none) {
        join(row, cheapest);
      }
    }
    return true;
  }

  void join(std::size_t row, std::size_t column) {
    column_of_[row] = column;
    row_of_[column] = row;
  }

  /// Of the shortest path from `row` to a free column (Dijkstra), every edge changes sides.
  bool match(std::size_t row) {
    std::fill(distance_.begin(), distance_.end(), infinite);
    settled_.clear();
    queue_ = {};
    leave(row, 0.0);
    const std::size_t end = nearest_free();
    if (end == none) {
      return false;
    }
    move_potentials(row, distance_[end]);
    for (std::size_t column = end; column != none;) {
      const std::size_t from = reached_from_[column];
      const std::size_t next = column_of_[from];
      join(from, column);
      column = from == row ? none : next;
    }
    return true;
  }

  void leave(std::size_t row, double distance) {
    for (std::size_t e = row_starts_[row]; e < row_starts_[row + 1]; ++e) {
      const std::size_t column = columns_[e];
      const double there = distance + std::max(0.0, costs_[e] - u_[row] - v_[column]);
      if (there < distance_[column]) {
        distance_[column] = there;
        reached_from_[column] = row;
        queue_.emplace(there, column);
      }
    }
  }

  std::size_t nearest_free() {
    while (!queue_.empty()) {
      const auto [distance, column] = queue_.top();
      queue_.pop();
      if (distance > distance_[column]) {
        continue;
      }
      if (row_of_[column] == none) {
        return column;
      }
      settled_.push_back(column);
      leave(row_of_[column], distance);
    }
    return none;
  }

  void move_potentials(std::size_t row, double length) {
    u_[row] += length;
    for (const std::size_t column : settled_) {
      const double spare = length - distance_[column];
      u_[row_of_[column]] += spare;
      v_[column] -= spare;
    }
  }

  using Place = std::pair<double, std::size_t>;

  std::span<const std::size_t> row_starts_, columns_;
  std::vector<double> costs_, u_, v_;
  std::vector<std::size_t> column_of_, row_of_;
  std::vector<double> distance_;
  std::vector<std::size_t> reached_from_, settled_;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> queue_;
};

}  // namespace

std::optional<MatchedScales> matched_scales(std::span<const std::size_t> row_starts,
                                            std::span<const std::size_t> columns,
                                            std::span<const double> values) {
  Assignment assignment(row_starts, columns, values);
  if (!assignment.solve()) {
    return std::nullopt;
  }
  return assignment.scales();
}

}  // namespace concord

#include "subsystem/ode/column_groups.hpp"

#include <algorithm>

namespace concord {

void ColumnGroups::learn(std::span<const double> f_x, std::span<const double> g_x, std::size_t n) {
  rows_.resize(n);
  const std::size_t all_rows = n + g_x.size() / n;
  for (std::size_t j = 0; j < n; ++j) {
    const std::vector<std::size_t> before = std::move(rows_[j]);
    rows_[j].clear();
    for (std::size_t i = 0; i < all_rows; ++i) {
      const double entry = i < n ? f_x[i * n + j] : g_x[(i - n) * n + j];
      if (entry != 0.0 || std::binary_search(before.begin(), before.end(), i)) {
        rows_[j].push_back(i);
      }
    }
  }
  groups_.clear();
  std::vector<std::vector<bool>> taken;  // rows, per group
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t g = 0;
    const auto meets = [&](std::size_t row) { return taken[g][row]; };
    while (g < groups_.size() && std::any_of(rows_[j].begin(), rows_[j].end(), meets)) {
      ++g;
    }
    if (g == groups_.size()) {
      groups_.emplace_back();
      taken.emplace_back(all_rows, false);
    }
    groups_[g].push_back(j);
    for (const std::size_t row : rows_[j]) {
      taken[g][row] = true;
    }
  }
}

}  // namespace concord

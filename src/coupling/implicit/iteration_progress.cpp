#include "coupling/implicit/iteration_progress.hpp"

#include <algorithm>
#include <cmath>

#include "support/agreement.hpp"

namespace concord {

IterationProgress::IterationProgress(MPI_Comm comm, std::size_t count)
    : comm_(comm), last_(count), last_residual_(count), anchor_(count) {}

void IterationProgress::remember(std::span<const double> v, std::span<const double> residual) {
  std::copy(v.begin(), v.end(), last_.begin());
  std::copy(residual.begin(), residual.end(), last_residual_.begin());
}

void IterationProgress::begin(double ratio, std::span<const double> v,
                              std::span<const double> residual) {
  remember(v, residual);
  anchor_ = last_;
  path_ = 0.0;
  best_ = ratio;
  best_iteration_ = 0;
  lowest_ = ratio;
  lowest_at_anchor_ = ratio;
}

bool IterationProgress::has_stopped(int it, double ratio, bool fresh, std::span<const double> v) {
  constexpr int a_while = 4;
  constexpr double steady_fall = 0.95;
  double sums[2] = {0.0, path_};
  for (std::size_t row = 0; row < anchor_.size(); ++row) {
    sums[0] += std::abs(v[row] - anchor_[row]);
    sums[1] += std::abs(v[row] - last_[row]);
  }
  path_ = sums[1];
  const bool progress = ratio < 0.5 * best_;
  best_ = progress ? ratio : best_;
  const bool due = it - best_iteration_ >= a_while;
  const bool falls =
      lowest_ < steady_fall * lowest_at_anchor_ || ratio < steady_fall * lowest_at_anchor_;
  lowest_ = std::min(lowest_, ratio);
  if (progress || due) {
    std::copy(v.begin(), v.end(), anchor_.begin());
    path_ = 0.0;
    best_iteration_ = it;
    lowest_at_anchor_ = lowest_;
  }
  if (progress || !due) {
    return false;
  }
  if (fresh) {
    return true;
  }
  agree_on_sum(comm_, sums);
  return !falls && sums[0] <= 0.5 * sums[1];
}

}  // namespace concord

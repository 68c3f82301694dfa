#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace concord {

/// Whether an iteration still gets anywhere, by its residuals, in units of the tolerance, and where
/// its iterates go. Spans are this rank's entries.
class IterationProgress {
 public:
  IterationProgress(MPI_Comm comm, std::size_t count);

  void begin(double ratio, std::span<const double> v, std::span<const double> residual);

  /// After iteration `it`: whether the residual has not halved for a while, and either the
  /// Jacobian is `fresh`, which doesn't contract slowly, or it doesn't fall at all and the iterates
  /// go nowhere: they wander about one point, where slow contraction walks. Collective.
  bool has_stopped(int it, double ratio, bool fresh, std::span<const double> v);

  /// The iterate and its residual.
  void remember(std::span<const double> v, std::span<const double> residual);
  std::span<const double> last() const { return last_; }
  std::span<const double> last_residual() const { return last_residual_; }

 private:
  MPI_Comm comm_;
  std::vector<double> last_, last_residual_, anchor_;
  double path_ = 0.0;  ///< of v since the anchor
  double best_ = 0.0;  ///< of this solve
  int best_iteration_ = 0;
  double lowest_ = 0.0, lowest_at_anchor_ = 0.0;  ///< so far, and before the anchor
};

}  // namespace concord

#pragma once

#include <span>
#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// err = sqrt(mean_i (EST_i / (ATOL + RTOL |y_i|))^2) over the outputs of all ranks (Arnold 2012);
/// |y_i| is the largest value so far, so that a zero of a signal is no demand.
class OutputErrorNorm {
 public:
  OutputErrorNorm(const RankNetwork& subsystems, double rtol, double atol);

  /// `estimates`, `outputs`: of this rank at the end of the macro-step, size n_outputs. Collective.
  double operator()(std::span<const double> estimates, std::span<const Sample> outputs) const;

  /// The outputs became those of a communication point.
  void commit(std::span<const Sample> outputs);

 private:
  const RankNetwork& subsystems_;
  double rtol_, atol_;
  std::vector<double> largest_;  ///< |y| so far
};

}  // namespace concord

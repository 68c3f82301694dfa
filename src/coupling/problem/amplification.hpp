#pragma once

#include <span>
#include <vector>

#include "coupling/problem/subsystem_gains.hpp"

namespace concord {

/// An upper bound of how much larger the errors of U can be than the residual R = J U - b, with
/// J = I - P K, both scaled: |J^-1| <= max_j (sum_{k<m} M^k 1)_j / (1 - |M^m 1|) with M = |P K|,
/// where M^m 1 < 1 (Neumann's series). It sees feedthrough that amplifies and loops, not their
/// signs.
class Amplification {
 public:
  explicit Amplification(RankNetwork& subsystems);

  /// `scale`, `residual_scale`: own entries of S and T, S being the unknowns' scale and T the
  /// rows'; infinite where the series tells nothing. Collective.
  double bound(const SubsystemGains& gains, std::span<const double> scale,
               std::span<const double> residual_scale);

 private:
  /// power_ = M power_; its largest entry on this rank.
  double multiply(const SubsystemGains& gains, std::span<const double> scale,
                  std::span<const double> residual_scale);

  RankNetwork& subsystems_;
  std::vector<Sample> offsets_;  ///< of connections
  std::vector<Sample> outputs_, fed_;
  std::vector<double> power_, sum_;
};

}  // namespace concord

#pragma once

#include <vector>

#include "coupling/constraint_rows.hpp"
#include "coupling/coupling.hpp"

namespace concord {

/// Error estimate of a macro-step with hermite inputs that costs no integration (-cosim_adapt
/// predictor):
///
///     EST_i = |u_i - (P y)_i| + h^4 |u_i''''| / 720,
///
/// what the inputs miss at t_{N+1} of the outputs really integrated, and the mean of the cubic's
/// distance from the signal inside the step; u'''' from the change of the third derivative from
/// one macro-step to the next. Weighted as in Arnold 2012: err = sqrt(mean (EST_i / (ATOL + RTOL
/// |u_i|))^2), |u_i| being the largest value so far, so that a zero of a signal is no demand. In
/// the row of a constraint, where the first term is gamma, it is the largest output in the
/// equation.
class PredictionError {
 public:
  static constexpr int order = 3;  ///< EST = O(h^{order + 1})

  PredictionError(const RankNetwork& subsystems, double rtol, double atol);

  /// err of the trial, whose inputs are fed `fed` = P y. Collective.
  double norm(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
              std::span<const Sample> fed) const;

  /// The trial became the communication point.
  void commit(const CommunicationPoint& point);

 private:
  double hold_error(std::size_t own, const Polynomial& polynomial, double h,
                    const CommunicationPoint& point) const;

  const RankNetwork& subsystems_;
  ConstraintRows constraints_;
  double rtol_, atol_;
  std::vector<double> largest_;  ///< |u| so far, per connected input
};

}  // namespace concord

#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace concord {

/// A number that runs depend on, and how far it is worth going from it.
struct Varied {
  double value = 0.0;
  double size = 1.0;  ///< positive: of `value` itself, or of what it may be where that is 0
};

/// What runs give at points: a column for each of them, NaN where one has failed.
using RunsAt = std::function<Eigen::MatrixXd(const std::vector<std::vector<double>>& points)>;

/// Of a number's size: the smallest step of the first attempt at differences.
inline constexpr double smallest_share = 0.01;

/// Derivatives of what runs give by the numbers that they depend on.
struct Derivatives {
  Eigen::VectorXd values;  ///< at the point itself
  Eigen::MatrixXd by;      ///< values x numbers
  Eigen::MatrixXd errors;  ///< of `by`, as the differences among each other say
};

/// Central differences with three steps, each half of the one before, extrapolated to the step 0
/// (Richardson; Ridders 1982): their error is of order 6, and what extrapolating has changed in the
/// end is the estimate. Where that is large, steps are smaller by ten, as long as it helps: a run
/// has kinks, or other events, not far from the point. Six runs for each number and attempt, all
/// of an attempt in one call. Numbers whose runs fail at every size have NaN.
Derivatives differentiate(const std::vector<Varied>& at, const RunsAt& evaluate);

/// One-sided differences with one step, which are right to four digits: enough for a direction.
/// Away from `upper`, where the step would lead beyond it.
Derivatives differentiate_roughly(const std::vector<Varied>& at, const std::vector<double>& upper,
                                  const RunsAt& evaluate);

}  // namespace concord

#pragma once

#include <Eigen/Core>
#include <vector>

#include "network/network.hpp"
#include "network/schedule/schedule.hpp"

namespace concord {

/// What one macro-step makes of the inputs that close a loop, the states being at rest:
/// u_{N+1} = J Z(u_N, ..., u_{N-k}), Z extrapolating to t_{N+1}. `gains` is P D. In parallel J = P
/// D; where `known` inputs are interpolated through what earlier members of a sequence have just
/// put out, J = (I - P D K)^{-1} P D (I - K), K the projection on them.
Eigen::MatrixXd loop_product(const Eigen::MatrixXd& gains, const std::vector<bool>& known);

/// The same for staggered grids: the second group, the first, the second again; `from_first` tells
/// which inputs the first group feeds.
Eigen::MatrixXd staggered_product(const Eigen::MatrixXd& gains,
                                  const std::vector<bool>& from_first);

/// Spectral radius of the companion matrix of u_{N+1} = J Z(u_N, ..., u_{N-k}), Z Lagrange's
/// extrapolation of order k over equal macro-steps: an explicit method is zero-stable where it is
/// below 1 (Arnold 2012). In parallel, with two subsystems, that is a gain below 1, 1/9, 1/49,
/// 1/225 for k = 0 to 3.
double growth_factor(const Eigen::MatrixXd& product, int order);

/// Of each global input: whether it is fed by an earlier member of its own sequence.
std::vector<bool> known_in_sequence(const Network& network, const Groups& groups);

}  // namespace concord

#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "coupling/estimates/richardson_coupling.hpp"

namespace concord::test {

/// x' = A x + B u + f, y = C x + D u + g, from x_0.
struct LinearizedPart {
  Eigen::MatrixXd a, b, c, d;
  Eigen::VectorXd f, g, start;
};

/// The exact solution of a model of linear subsystems without explicit time, by one matrix
/// exponential of the coupled system.
class ExactSolution {
 public:
  explicit ExactSolution(const Model& model);

  const LinearizedPart& part(std::size_t k) const { return parts_[k]; }
  const Network& network() const { return network_; }

  /// At time t, before the start too: the solution continued.
  struct Values {
    Eigen::VectorXd x, x_slope, u, u_slope, y, y_slope;  ///< of all subsystems, model-file order
  };
  Values at(double t) const;

  /// The same solution, begun at time t: differences between times near t then have no rounding of
  /// the way from the start.
  ExactSolution begun_at(double t) const;

 private:
  Network network_;
  std::vector<LinearizedPart> parts_;
  Eigen::MatrixXd a_, b_, c_, d_, p_;  ///< block diagonal; P with its factors
  Eigen::VectorXd f_, g_, u_fixed_, start_;
  double start_time_ = 0.0;
};

/// Of every output after one double macro-step from exact values, whose past is exact, too.
struct LocalErrors {
  std::vector<double> real;       ///< of the two small steps, which are what is kept
  std::vector<double> estimated;  ///< by Richardson's estimate
};

/// Concord's RichardsonCoupling on the model's subsystems, which are integrated exactly, over
/// [time, time + 2h]. `groups`: of a sequential schedule.
LocalErrors local_errors(const Model& model, const ExactSolution& solution, ErrorEstimate estimate,
                         int order, double time, double h, const Groups& groups = {});

/// Root mean squares over several times from 0.08 s on, where no output vanishes at all of them.
LocalErrors mean_local_errors(const Model& model, ErrorEstimate estimate, int order, double h,
                              const Groups& groups = {});

/// Largest absolute values of the outputs over the same times: what rounding is relative to.
std::vector<double> output_sizes(const Model& model);

}  // namespace concord::test

#include "coupling/estimates/carried_errors.hpp"

#include "coupling/estimation/phi_functions.hpp"
#include "coupling/estimation/step_response.hpp"

namespace concord {
namespace {

/// States up to which an exponential costs no more than the linearisation.
constexpr Eigen::Index few = 40;

}  // namespace

void CarriedErrors::prepare(const Eigen::MatrixXd& a, double h, How how) {
  const Eigen::Index n = a.rows();
  last_ = gamma * h;
  exact_ = how == How::exactly && n < few;
  if (exact_) {
    const Eigen::VectorXd units = balancing_units(a, Eigen::MatrixXd(n, 0), h);
    const Eigen::VectorXd inverse = units.cwiseInverse();
    const Eigen::MatrixXd balanced = inverse.asDiagonal() * a * units.asDiagonal();
    grown_and_summed(balanced, h - last_, grown_first_, summed_first_);
    grown_and_summed(balanced, last_, grown_last_, summed_last_);
    for (auto* part : {&grown_first_, &summed_first_, &grown_last_, &summed_last_}) {
      *part = (units.asDiagonal() * *part * inverse.asDiagonal()).eval();
    }
    // Beyond all numbers: an error that grows so is told as one by any method.
    exact_ = grown_first_.allFinite() && grown_last_.allFinite();
  }
  if (!exact_) shifted_.compute(Eigen::MatrixXd::Identity(n, n) - last_ * a);
}

Eigen::MatrixXd CarriedErrors::response(const Eigen::MatrixXd& b) const {
  if (b.size() == 0) return b;
  return exact_ ? Eigen::MatrixXd(summed_last_ * b) : Eigen::MatrixXd(shifted_.solve(last_ * b));
}

Eigen::VectorXd CarriedErrors::over_last(const Eigen::VectorXd& x, const Eigen::VectorXd& w) const {
  if (x.size() == 0) return x;
  return exact_ ? Eigen::VectorXd(grown_last_ * x + summed_last_ * w)
                : Eigen::VectorXd(shifted_.solve(x + last_ * w));
}

Eigen::VectorXd CarriedErrors::over_first(const Eigen::VectorXd& x, const Eigen::VectorXd& stage,
                                          const Eigen::VectorXd& w) const {
  return exact_ ? Eigen::VectorXd(grown_first_ * x + summed_first_ * w)
                : Eigen::VectorXd(x + (1.0 - gamma) / gamma * (stage - x));
}

}  // namespace concord

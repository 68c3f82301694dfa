// When an implicit coupling counts as converged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Growth of the scaled residual norm, from one or more, after which a solve counts as diverged.
constexpr double diverged_factor = 1e6;

/// What is not a number counts as infinite.
double larger(double worst, double next) {
  return std::isnan(next) ? std::numeric_limits<double>::infinity() : std::max(worst, next);
}

}  // namespace

/// max_i |u - P y| / (eps_rel |u| + eps_abs), slopes counted with h (Eguillon et al. 2019, (27)).
double ImplicitCoupling::worst_ratio(Vec f) {
  const PetscScalar* r = nullptr;
  petsc(VecGetArrayRead(f, &r));
  double worst[2] = {0.0, 0.0};  // against the tolerance, against the noise
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double tolerance = method_.tolerance.relative * constraints_.size(j, trial_->inputs) +
                             method_.tolerance.absolute;
    const double noise = std::max(tolerance, noise_level_ * largest_[j]);
    for (int part = 0; part < parts_; ++part) {
      const double weight = part == 0 ? 1.0 : step_.size();
      const double difference =
          weight * std::abs(r[j * parts_ + part]) * residual_scale_values_[j * parts_ + part];
      worst[0] = larger(worst[0], difference / tolerance);
      worst[1] = larger(worst[1], difference / noise);
    }
  }
  petsc(VecRestoreArrayRead(f, &r));
  agree_on_largest(subsystems_.comm(), worst);
  noise_ratio_ = worst[1];
  return worst[0];
}

/// Whether the residual is down to the noise of the integrators and has not halved for a while: a
/// tolerance below that noise cannot be met.
bool ImplicitCoupling::stagnates(PetscInt it, double ratio) {
  if (it == 0 || ratio < 0.5 * best_ratio_) {
    best_ratio_ = ratio;
    best_iteration_ = it;
  }
  constexpr PetscInt a_while = 4;
  return it - best_iteration_ >= a_while && noise_ratio_ < 1.0;
}

double ImplicitCoupling::unknowns_error(Vec f) {
  return unknowns_error_->largest(f, scale_values_, trial_->inputs, subsystems_.connected_inputs(),
                                  method_.tolerance.absolute / method_.tolerance.relative);
}

/// Unknowns of indirect constraints must be right, too, near the relative tolerance or where noise
/// stops their errors from shrinking; where an old Jacobian does, it is renewed. Before there is a
/// Jacobian, one iteration must do.
bool ImplicitCoupling::unknowns_are_off(PetscInt it, Vec f) {
  if (!unknowns_error_ || jacobian_step_ == 0.0) {
    return unknowns_error_ && it == 0;
  }
  const double error = unknowns_error(f);
  const double before = std::exchange(last_error_, error);
  const bool shrinks = it == 0 || error < 0.5 * before;
  jacobian_is_useless_ = !shrinks && !jacobian_is_new_;
  return error > std::pow(method_.tolerance.relative, 5.0 / 6.0) && (shrinks || !jacobian_is_new_);
}

PetscErrorCode ImplicitCoupling::converged(SNES snes, PetscInt it, PetscReal, PetscReal,
                                           PetscReal fnorm, SNESConvergedReason* reason,
                                           void* self) {
  auto& coupling = *static_cast<ImplicitCoupling*>(self);
  *reason = SNES_CONVERGED_ITERATING;
  if (!std::isfinite(fnorm)) {
    *reason = SNES_DIVERGED_FNORM_NAN;
    return 0;
  }
  Vec f = nullptr;
  PetscCall(SNESGetFunction(snes, &f, nullptr, nullptr));
  const double ratio = coupling.worst_ratio(f);
  if (ratio < 1.0 && !coupling.unknowns_are_off(it, f)) {
    *reason = SNES_CONVERGED_FNORM_ABS;
  } else if (coupling.stagnates(it, ratio)) {
    *reason = SNES_CONVERGED_SNORM_RELATIVE;
  } else if (it == 0) {
    coupling.first_norm_ = fnorm;
  } else if (fnorm > diverged_factor * std::max(1.0, coupling.first_norm_)) {
    *reason = SNES_DIVERGED_DTOL;
  }
  return 0;
}

}  // namespace concord

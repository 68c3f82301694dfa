// When an implicit coupling counts as converged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Growth of the scaled residual norm, from one or more, after which a solve counts as diverged.
constexpr double diverged_factor = 1e6;

/// What a sum of large terms that cancel is wrong by, relative to the terms.
constexpr double rounding = 1e-13;

/// What is not a number counts as infinite.
double larger(double worst, double next) {
  return std::isnan(next) ? infinite : std::max(worst, next);
}

}  // namespace

/// In the unit of u. No demand is smaller than the rounding of what the output is a sum of.
double ImplicitCoupling::row_tolerance(std::size_t j, int part) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const double h = step_.size();
  const double terms = part == 0 ? terms_[i].value : h * terms_[i].derivative;
  return std::max(scales_.row_tolerance(j, trial_->inputs, fed_, h), rounding * terms);
}

/// max_i |u - P y| / (eps_rel |u| + eps_abs), slopes counted with h (Eguillon et al. 2019, (27)).
ImplicitCoupling::Residual ImplicitCoupling::measure(Vec f) {
  Residual result;
  const PetscScalar* r = nullptr;
  petsc(VecGetArrayRead(f, &r));
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    for (int part = 0; part < parts_; ++part) {
      const double weight = part == 0 ? 1.0 : step_.size();
      const std::size_t row = j * parts_ + part;
      const double difference = weight * std::abs(r[row]) * residual_scale_values_[row];
      result.scaled = larger(result.scaled, std::abs(r[row]));
      if (difference != 0.0) {
        result.ratio = larger(result.ratio, difference / row_tolerance(j, part));
      }
    }
    const double tolerance = scales_.unknown_tolerance(j, trial_->inputs[i], fed_[i], step_.size());
    if (tolerance > 0.0) {
      result.spread = larger(result.spread, scale_values_[j * parts_] / tolerance);
    }
  }
  petsc(VecRestoreArrayRead(f, &r));
  double largest[3] = {last_failed_ ? infinite : result.ratio, result.scaled, result.spread};
  agree_on_largest(subsystems_.comm(), largest);
  result.ratio = largest[0];
  result.scaled = largest[1];
  result.spread = largest[2];
  return result;
}

/// Largest |U - U_before| and |R - R_before|, over tolerances.
void ImplicitCoupling::measure_steps(Vec x, Vec f, std::span<double> largest) const {
  const PetscScalar *v = nullptr, *r = nullptr;
  petsc(VecGetArrayRead(x, &v));
  petsc(VecGetArrayRead(f, &r));
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t row = 0; row < last_iterate_.size(); ++row) {
    const std::size_t j = row / static_cast<std::size_t>(parts_);
    const int part = static_cast<int>(row % static_cast<std::size_t>(parts_));
    const Sample& input = trial_->inputs[connected[j]];
    const double h = step_.size();
    const double weight = part == 0 ? 1.0 : h;
    const double step = weight * std::abs(v[row] - last_iterate_[row]) * scale_values_[row];
    const double change =
        weight * std::abs(r[row] - last_residual_[row]) * residual_scale_values_[row];
    if (step != 0.0) {
      largest[0] =
          larger(largest[0], step / scales_.unknown_tolerance(j, input, fed_[connected[j]], h));
    }
    if (change != 0.0) {
      largest[1] = larger(largest[1], change / row_tolerance(j, part));
    }
  }
  petsc(VecRestoreArrayRead(f, &r));
  petsc(VecRestoreArrayRead(x, &v));
  agree_on_largest(subsystems_.comm(), largest);
}

void ImplicitCoupling::remember_iterate(Vec x, Vec f) {
  const auto copy = [](Vec vector, std::vector<double>& values) {
    const PetscScalar* v = nullptr;
    petsc(VecGetArrayRead(vector, &v));
    std::copy_n(v, values.size(), values.begin());
    petsc(VecRestoreArrayRead(vector, &v));
  };
  copy(x, last_iterate_);
  copy(f, last_residual_);
}

/// What the outputs are sums of, |C| |x| + |D| |u| where a linearisation tells: a small difference
/// of large terms carries their rounding.
void ImplicitCoupling::learn_terms() {
  if (!estimators_ || std::exchange(terms_known_, true)) {
    return;
  }
  estimators_->output_terms(trial_->inputs, base_outputs_);
  subsystems_.exchange(base_outputs_, terms_);
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    if (constraints_.is_equation(j)) {
      terms_[subsystems_.connected_inputs()[j]] = base_outputs_[constraints_.gamma(j)];
    }
  }
  for (auto& terms : terms_) {
    terms = {std::abs(terms.value), std::abs(terms.derivative)};
  }
}

/// The residual against what integrators and rounding make of outputs.
double ImplicitCoupling::noise_ratio(Vec f) {
  learn_terms();
  double worst = 0.0;
  const PetscScalar* r = nullptr;
  petsc(VecGetArrayRead(f, &r));
  for (std::size_t row = 0; row < last_residual_.size(); ++row) {
    const std::size_t j = row / static_cast<std::size_t>(parts_);
    const int part = static_cast<int>(row % static_cast<std::size_t>(parts_));
    const Sample& terms = terms_[subsystems_.connected_inputs()[j]];
    const double h = step_.size();
    const double size = std::max(scales_.row_size(j, trial_->inputs, fed_, h),
                                 part == 0 ? terms.value : h * terms.derivative);
    const double noise = std::max(row_tolerance(j, part), noise_level_ * size);
    const double difference =
        (part == 0 ? 1.0 : h) * std::abs(r[row]) * residual_scale_values_[row];
    if (difference != 0.0) {
      worst = larger(worst, difference / noise);
    }
  }
  petsc(VecRestoreArrayRead(f, &r));
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Largest e over its tolerance; slopes with h. What indirect constraints fix by moments only is
/// judged by itself.
double ImplicitCoupling::error_of_unknowns(Vec e) const {
  double worst = 0.0;
  const PetscScalar* values = nullptr;
  petsc(VecGetArrayRead(e, &values));
  const auto& connected = subsystems_.connected_inputs();
  const auto indirect = constraints_.indirect_unknowns();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (constraints_.begins_afresh(j) ||
        std::find(indirect.begin(), indirect.end(), j) != indirect.end()) {
      continue;
    }
    const std::size_t i = connected[j];
    const double h = step_.size();
    const double tolerance = scales_.unknown_tolerance(j, trial_->inputs[i], fed_[i], h);
    for (int part = 0; part < parts_; ++part) {
      // S of a slope is that of its value over h.
      const double error = std::abs(values[j * parts_ + part]) * scale_values_[j * parts_];
      if (error != 0.0) {
        const double noise = constraints_.is_equation(j) ? 0.0 : row_tolerance(j, part);
        worst = larger(worst, error / std::max(tolerance, noise));
      }
    }
  }
  petsc(VecRestoreArrayRead(e, &values));
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Largest error of an indirect constraint's unknown on any rank, value and h times slope together,
/// relative to its size.
double ImplicitCoupling::error_of_indirect_unknowns(Vec e) const {
  double worst = 0.0;
  const PetscScalar* values = nullptr;
  petsc(VecGetArrayRead(e, &values));
  for (const std::size_t j : constraints_.indirect_unknowns()) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    double error = 0.0;
    for (std::size_t row = j * parts_; row < (j + 1) * parts_; ++row) {
      error += std::abs(values[row]) * scale_values_[j * parts_];
    }
    const double size = std::max(std::abs(trial_->inputs[i].value),
                                 scales_.size(j, trial_->inputs[i], fed_[i], step_.size()));
    if (error != 0.0) {
      worst = larger(worst, error / size);
    }
  }
  petsc(VecRestoreArrayRead(e, &values));
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Unknowns of indirect constraints must be right, too, near the relative tolerance or where noise
/// stops their errors from shrinking; where an old Jacobian does, it is renewed.
bool ImplicitCoupling::unknowns_are_off(Vec e) {
  const double error = error_of_indirect_unknowns(e);
  const double before = std::exchange(last_error_, error);
  const bool shrinks = error < 0.5 * before;
  jacobian_is_useless_ = !shrinks && !jacobian_is_new_;
  return error > std::pow(method_.tolerance.relative, 5.0 / 6.0) && (shrinks || !jacobian_is_new_);
}

/// Whether the error of U is below its tolerance: J^{-1} R, over what is left of Newton's
/// contraction; without J the residual, by what contraction and steps of the iteration tell. Before
/// either is known, an iteration must be made.
bool ImplicitCoupling::error_is_small(const Residual& residual, Vec f) {
  error_ = residual.ratio;
  if (!(residual.ratio < 1.0)) {
    return false;
  }
  if (residual.ratio == 0.0) {
    return true;
  }
  if (jacobian_step_ == 0.0) {
    error_ = takes_jacobian_ ? infinite : residual.ratio * contraction_.amplification();
    return error_ < 1.0;
  }
  const double left = 1.0 - std::min(newton_rate_, 0.9);
  const double worst_entry = residual.scaled * residual.spread / left;
  if (!constraints_.any_indirect() && worst_entry < 1.0) {
    if (bound_ == 0.0) {
      const auto& gains = jacobian_is_estimated_ ? missiles_->gains() : gains_;
      bound_ = amplification_.bound(gains, scale_values_, residual_scale_values_);
    }
    if (worst_entry * bound_ < 1.0) {
      return true;
    }
  }
  Vec e = unknowns_error_->solve(f);
  error_ = e != nullptr ? error_of_unknowns(e) / left : infinite;
  return error_ < 1.0 && !(constraints_.any_indirect() && unknowns_are_off(e));
}

void ImplicitCoupling::begin_iteration(Vec x, Vec f) {
  remember_iterate(x, f);
  anchor_ = last_iterate_;
  path_ = 0.0;
  best_ratio_ = first_.ratio;
  best_iteration_ = 0;
  lowest_ratio_ = first_.ratio;
  anchor_ratio_ = first_.ratio;
  contraction_.begin(first_.ratio);
}

/// Whether the residual has not halved for a while, and either Newton's method has a Jacobian of
/// this macro-step, with which it doesn't contract slowly, or it doesn't fall at all and the
/// iterates go nowhere: they wander about one point, where slow contraction walks.
bool ImplicitCoupling::has_stopped(PetscInt it, double ratio, Vec x) {
  constexpr PetscInt a_while = 4;
  constexpr double steady_fall = 0.95;
  const PetscScalar* v = nullptr;
  petsc(VecGetArrayRead(x, &v));
  double sums[2] = {0.0, path_};
  for (std::size_t row = 0; row < anchor_.size(); ++row) {
    sums[0] += std::abs(v[row] - anchor_[row]);
    sums[1] += std::abs(v[row] - last_iterate_[row]);
  }
  path_ = sums[1];
  const bool progress = ratio < 0.5 * best_ratio_;
  best_ratio_ = progress ? ratio : best_ratio_;
  const bool due = it - best_iteration_ >= a_while;
  const bool falls =
      lowest_ratio_ < steady_fall * anchor_ratio_ || ratio < steady_fall * anchor_ratio_;
  lowest_ratio_ = std::min(lowest_ratio_, ratio);
  if (progress || due) {
    std::copy_n(v, anchor_.size(), anchor_.begin());
    path_ = 0.0;
    best_iteration_ = it;
    anchor_ratio_ = lowest_ratio_;
  }
  petsc(VecRestoreArrayRead(x, &v));
  if (progress || !due) {
    return false;
  }
  if (takes_jacobian_ && jacobian_is_new_) {
    return true;
  }
  agree_on_sum(subsystems_.comm(), sums);
  return !falls && sums[0] <= 0.5 * sums[1];
}

ImplicitCoupling::Verdict ImplicitCoupling::judge(PetscInt it, Vec x, Vec f) {
  if (it == 0) {
    begin_iteration(x, f);
    return guess_is_good_ ? Verdict::converged : Verdict::going_on;
  }
  const Residual residual = measure(f);
  double steps[2] = {0.0, 0.0};
  measure_steps(x, f, steps);
  contraction_.add(residual.ratio, steps[0], steps[1]);
  newton_rate_ = takes_jacobian_ ? contraction_.last() : 0.0;
  const bool stopped = has_stopped(it, residual.ratio, x);
  remember_iterate(x, f);
  if (error_is_small(residual, f)) {
    return Verdict::converged;
  }
  return stopped && noise_ratio(f) < 1.0 ? Verdict::noise : Verdict::going_on;
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
  return coupling.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    Vec f = nullptr, x = nullptr;
    PetscCall(SNESGetFunction(snes, &f, nullptr, nullptr));
    PetscCall(SNESGetSolution(snes, &x));
    coupling.verdict_ = coupling.judge(it, x, f);
    if (coupling.verdict_ == Verdict::converged) {
      *reason = SNES_CONVERGED_FNORM_ABS;
    } else if (coupling.verdict_ == Verdict::noise) {
      *reason = SNES_CONVERGED_SNORM_RELATIVE;
    } else if (it == 0) {
      coupling.first_norm_ = fnorm;
    } else if (fnorm > diverged_factor * std::max(1.0, coupling.first_norm_)) {
      *reason = SNES_DIVERGED_DTOL;
    }
    return 0;
  });
}

/// After SNES has ended, wherever it did. Where a line search finds nothing better along Newton's
/// direction of a Jacobian that serves, contraction has stopped, too.
void ImplicitCoupling::conclude(CouplingReport& report) {
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  petsc(SNESGetConvergedReason(snes_, &reason));
  const Residual last = measure(residual_);
  report.residual = last.ratio;
  if (verdict_ == Verdict::going_on) {
    const bool serves = jacobian_is_new_ || newton_rate_ < 0.5 ||
                        (contraction_.rate() > 0.0 && contraction_.rate() < 0.5);
    const bool stuck = reason == SNES_DIVERGED_LINE_SEARCH || reason == SNES_DIVERGED_TR_DELTA;
    if (error_is_small(last, residual_)) {
      verdict_ = Verdict::converged;
    } else if (stuck && serves && noise_ratio(residual_) < 1.0) {
      verdict_ = Verdict::noise;
    }
  }
  if (verdict_ == Verdict::converged && jacobian_step_ == 0.0) {
    contraction_.remember(step_.size());
  }
}

}  // namespace concord

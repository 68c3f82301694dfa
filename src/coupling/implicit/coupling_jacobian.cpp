#include "coupling/implicit/coupling_jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// A kept Jacobian that needs more Newton iterations than this, and than differences need
/// evaluations, is computed afresh.
constexpr PetscInt least_patience = 3;

}  // namespace

CouplingJacobian::CouplingJacobian(RankNetwork& subsystems, const ConstraintRows& constraints,
                                   const Joins& joins, MissilesSystem* estimated,
                                   CouplingUnknowns& unknowns, CouplingEvaluation& evaluation,
                                   const StepAttempt& attempt)
    : subsystems_(subsystems),
      joins_(joins),
      unknowns_(unknowns),
      evaluation_(evaluation),
      attempt_(attempt),
      gains_(subsystems, static_cast<int>(unknowns.parts())),
      estimated_(estimated),
      operator_(estimated != nullptr ? estimated->interface() : own_.emplace(subsystems, gains_)),
      amplification_(subsystems),
      differences_(subsystems, constraints, unknowns, evaluation, attempt, gains_) {
  petsc(MatCreateVecs(operator_.matrix(), error_.out(), nullptr));
}

void CouplingJacobian::begin() {
  kept_.age = 0;
  kept_.is_new = false;
  kept_.is_useless = false;
}

/// The matrix is theirs since they have solved; scales where it has changed or was not kept.
void CouplingJacobian::take_estimated() {
  if (!known() || !kept_.is_estimated) {
    unknowns_.take_scales(estimated_->scales());
    kept_.h = attempt_.h();
    kept_.contents = operator_.contents();
    kept_.is_estimated = true;
    kept_.is_of_layer = joins_.any_layer();
    kept_.bound = 0.0;
  }
  kept_.is_new = true;
  kept_.contraction = 0.0;
}

bool CouplingJacobian::is_stale() const {
  const double ratio = known() ? attempt_.h() / kept_.h : 0.0;
  return ratio < 0.7 || ratio > 1.4 || kept_.is_useless ||
         kept_.age > std::max(least_patience, differences_.columns());
}

bool CouplingJacobian::outgrown() const {
  const bool own = !known() || is_stale() || joins_.any_layer() != kept_.is_of_layer ||
                   unknowns_.sizes().outdated(attempt_.point->inputs);
  return agree_on_largest(subsystems_.comm(), own ? 1 : 0) != 0;
}

void CouplingJacobian::drop() {
  kept_.h = 0.0;
  kept_.is_new = false;
  kept_.is_estimated = false;
  kept_.contraction = 0.0;
  kept_.bound = 0.0;
  unknowns_.take_scales(attempt_.point->inputs, attempt_.point->inputs, attempt_.h());
}

void CouplingJacobian::forget_estimated() {
  if (kept_.is_estimated) {
    forget();
  }
}

void CouplingJacobian::settle_scales() {
  unknowns_.settle_scales(attempt_.trial->inputs, evaluation_.fed(), attempt_.h());
  if (known()) {
    operator_.assemble(gains(), unknowns_.residual_scale_vector(), unknowns_.scale_vector());
    kept_.contents = operator_.contents();
    kept_.bound = 0.0;
  }
  unknowns_.write(attempt_.trial->inputs);
  evaluation_.evaluated_at(unknowns_.vector());
}

double CouplingJacobian::bound() {
  if (kept_.bound == 0.0) {
    kept_.bound = amplification_.bound(gains(), unknowns_.scale(), unknowns_.residual_scale());
  }
  return kept_.bound;
}

void CouplingJacobian::io(Archive& archive, bool changed) {
  const auto pass = [&] {
    if (own_) {
      CONCORD_MEMBERS(archive, *own_);
    }
    CONCORD_MEMBERS(archive, kept_.h, kept_.contents, kept_.is_of_layer, kept_.is_estimated,
                    kept_.contraction, kept_.bound);
    if (!kept_.is_estimated) {
      CONCORD_MEMBERS(archive, gains_);
    }
  };
  changed = archive.changes(pass) || changed;
  if (agree_on_largest(subsystems_.comm(), changed ? 1 : 0) != 0 && known()) {
    operator_.assemble_again(gains(), unknowns_.residual_scale_vector(), unknowns_.scale_vector());
  }
}

Vec CouplingJacobian::error(Vec residual) {
  return operator_.solve(residual, error_) ? static_cast<Vec>(error_) : nullptr;
}

/// At v; false where it cannot be had.
bool CouplingJacobian::renew(Vec v) {
  evaluation_.read(v);
  if (!differences_.find()) {
    forget();
    return false;
  }
  operator_.assemble(gains_, unknowns_.residual_scale_vector(), unknowns_.scale_vector());
  kept_ = {.h = attempt_.h(),
           .contents = operator_.contents(),
           .is_of_layer = joins_.any_layer(),
           .is_new = true};
  return true;
}

bool CouplingJacobian::update(Vec v) {
  ++kept_.age;
  return !is_stale() || renew(v);
}

}  // namespace concord

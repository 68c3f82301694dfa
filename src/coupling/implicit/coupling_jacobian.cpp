#include "coupling/implicit/coupling_jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// Perturbation of a scaled unknown in the differenced Jacobian: well above the integrators' own
/// error, small enough for a Newton contraction of about the same size.
constexpr double difference_step = 1e-5;

/// A kept Jacobian that needs more Newton iterations than this, and than differences need
/// evaluations, is computed afresh.
constexpr PetscInt least_patience = 3;

PetscInt widest_of(const RankNetwork& subsystems, const SubsystemGains& gains) {
  int widest = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    widest = std::max(widest, static_cast<int>(gains.columns(k)));
  }
  return agree_on_largest(subsystems.comm(), widest);
}

}  // namespace

CouplingJacobian::CouplingJacobian(RankNetwork& subsystems, const ConstraintRows& constraints,
                                   const Joins& joins, MissilesSystem* estimated,
                                   CouplingUnknowns& unknowns, CouplingEvaluation& evaluation,
                                   const StepAttempt& attempt)
    : subsystems_(subsystems),
      constraints_(constraints),
      joins_(joins),
      unknowns_(unknowns),
      evaluation_(evaluation),
      attempt_(attempt),
      gains_(subsystems, static_cast<int>(unknowns.parts())),
      estimated_(estimated),
      operator_(estimated != nullptr ? estimated->interface() : own_.emplace(subsystems, gains_)),
      amplification_(subsystems),
      widest_(widest_of(subsystems, gains_)) {
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
         kept_.age > std::max(least_patience, widest_);
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
  VecHandle left, right;
  petsc(VecDuplicate(unknowns_.scale_vector(), right.out()));
  petsc(VecDuplicate(unknowns_.residual_scale_vector(), left.out()));
  unknowns_.settle_scales(attempt_.trial->inputs, evaluation_.fed(), attempt_.h(), right, left);
  if (known()) {
    petsc(VecPointwiseDivide(left, left, unknowns_.residual_scale_vector()));
    petsc(VecPointwiseDivide(right, unknowns_.scale_vector(), right));
    operator_.scale(left, right);
    kept_.contents = operator_.contents();
    kept_.bound = 0.0;
  }
  unknowns_.write(attempt_.trial->inputs);
  evaluation_.evaluated_at(unknowns_.vector());
}

double CouplingJacobian::bound() {
  if (kept_.bound == 0.0) {
    kept_.bound = amplification_.bound(kept_.is_estimated ? estimated_->gains() : gains_,
                                       unknowns_.scale(), unknowns_.residual_scale());
  }
  return kept_.bound;
}

Vec CouplingJacobian::error(Vec residual) {
  return operator_.solve(residual, error_) ? static_cast<Vec>(error_) : nullptr;
}

/// How far a column's unknown is moved: in proportion to its size, or to the value where that is
/// larger.
double CouplingJacobian::increment(std::size_t k, std::size_t column) const {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  const auto& connected = subsystems_.connected_inputs();
  const auto j = static_cast<std::size_t>(
      std::lower_bound(connected.begin(), connected.end(), input) - connected.begin());
  const Sample& sample = base_inputs_[input];
  const double entry = column % parts == 0 ? sample.value : sample.derivative;
  // What an indirect constraint's unknown feeds reaches the outputs with h or h^2 only.
  const double reach = constraints_.begins_afresh(j) ? std::min(1.0, attempt_.h()) : 1.0;
  return difference_step / reach *
         std::max(unknowns_.scale()[j * parts + column % parts], std::abs(entry));
}

/// The column of every subsystem at once.
void CouplingJacobian::move_column(std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (column < gains_.columns(k)) {
      Sample& sample = attempt_.trial->inputs[gains_.inputs(k)[column / parts]];
      (column % parts == 0 ? sample.value : sample.derivative) += increment(k, column);
    }
  }
}

/// The gains of a column that has been moved by `change`; false where one is not finite.
bool CouplingJacobian::take_column(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  const Sample& moved_input = attempt_.trial->inputs[input];
  const double change = column % parts == 0
                            ? moved_input.value - base_inputs_[input].value
                            : moved_input.derivative - base_inputs_[input].derivative;
  const IndexRange outputs = subsystems_.outputs_of(k);
  bool finite = true;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Sample& moved = attempt_.trial->outputs[outputs.first + o];
    const Sample& base = base_outputs_[outputs.first + o];
    const double gain[2] = {(moved.value - base.value) / change,
                            (moved.derivative - base.derivative) / change};
    for (std::size_t part = 0; part < parts; ++part) {
      finite = finite && std::isfinite(gain[part]);
      gains_.at(k, o * parts + part, column) = gain[part];
    }
  }
  if (subsystems_.own(k).description().constraint) {
    correct_by_equation(k, column);
  }
  return finite;
}

/// What corrects an unknown is it, its own first input, less what is left of its equation: a
/// difference of their difference would have the digits of the one in the larger unit.
void CouplingJacobian::correct_by_equation(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  for (std::size_t part = 0; part < parts; ++part) {
    gains_.at(k, constraint_corrected * parts + part, column) =
        (column == part ? 1.0 : 0.0) - gains_.at(k, constraint_residual * parts + part, column);
  }
}

/// A subsystem that could not be evaluated where its column was moved to: on the other side, or
/// nearer.
bool CouplingJacobian::difference_again(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  for (const double part : {-1.0, 1e-2, -1e-2}) {
    attempt_.trial->inputs = base_inputs_;
    Sample& sample = attempt_.trial->inputs[input];
    (column % parts == 0 ? sample.value : sample.derivative) += part * increment(k, column);
    evaluation_.evaluate_alone(k);
    if (take_column(k, column)) {
      return true;
    }
  }
  return false;
}

/// False where some gain cannot be had.
bool CouplingJacobian::difference_gains() {
  base_outputs_ = attempt_.trial->outputs;
  base_inputs_ = attempt_.trial->inputs;
  bool complete = true;
  std::vector<std::size_t> again;
  for (std::size_t column = 0; column < static_cast<std::size_t>(widest_); ++column) {
    move_column(column);
    evaluation_.evaluate_each();
    again.clear();
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (column < gains_.columns(k) && !take_column(k, column)) {
        again.push_back(k);
      }
    }
    for (const std::size_t k : again) {
      complete = difference_again(k, column) && complete;
    }
    attempt_.trial->inputs = base_inputs_;
  }
  return agree_on_largest(subsystems_.comm(), complete ? 0 : 1) == 0;
}

/// At v; false where it cannot be had.
bool CouplingJacobian::renew(Vec v) {
  evaluation_.read(v);
  if (!difference_gains()) {
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

// The Jacobian of an implicit coupling by coloured differences, kept over macro-steps while it
// serves.
#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Perturbation of a scaled unknown in the differenced Jacobian: well above the integrators' own
/// error, small enough for a Newton contraction of about the same size.
constexpr double difference_step = 1e-5;

/// A kept Jacobian that needs more Newton iterations than this, and than differences need
/// evaluations, is computed afresh.
constexpr PetscInt least_patience = 3;

}  // namespace

bool ImplicitCoupling::jacobian_is_stale() const {
  const double ratio = jacobian_step_ > 0.0 ? step_.size() / jacobian_step_ : 0.0;
  return ratio < 0.7 || ratio > 1.4 || jacobian_is_useless_ ||
         jacobian_age_ > std::max(least_patience, widest_);
}

/// How far a column's unknown is moved: in proportion to its size, or to the value where that is
/// larger.
double ImplicitCoupling::increment(std::size_t k, std::size_t column) const {
  const std::size_t input = gains_.inputs(k)[column / parts_];
  const auto& connected = subsystems_.connected_inputs();
  const auto j = static_cast<std::size_t>(
      std::lower_bound(connected.begin(), connected.end(), input) - connected.begin());
  const Sample& sample = base_inputs_[input];
  const double entry = column % parts_ == 0 ? sample.value : sample.derivative;
  // What an indirect constraint's unknown feeds reaches the outputs with h or h^2 only.
  const double reach = constraints_.begins_afresh(j) ? std::min(1.0, step_.size()) : 1.0;
  return difference_step / reach *
         std::max(scale_values_[j * parts_ + column % parts_], std::abs(entry));
}

/// One evaluation moves one column of every subsystem at once: subsystems answer to their own
/// inputs only, so that 2 max_k n_in,k evaluations suffice. Outputs stay where they come from here,
/// whatever the schedule: K is block diagonal.
void ImplicitCoupling::difference_column(std::size_t column) {
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (column < gains_.columns(k)) {
      Sample& sample = trial_->inputs[gains_.inputs(k)[column / parts_]];
      (column % parts_ == 0 ? sample.value : sample.derivative) += increment(k, column);
    }
  }
  begin_evaluation();
  for (const auto& stage : stages_) {
    run(stage);
    last_failed_ = false;  // each subsystem for itself
  }
}

/// The gains of a column that has been moved by `change`; false where one is not finite.
bool ImplicitCoupling::take_column(std::size_t k, std::size_t column) {
  const std::size_t input = gains_.inputs(k)[column / parts_];
  const Sample& moved_input = trial_->inputs[input];
  const double change = column % parts_ == 0
                            ? moved_input.value - base_inputs_[input].value
                            : moved_input.derivative - base_inputs_[input].derivative;
  const IndexRange outputs = subsystems_.outputs_of(k);
  bool finite = true;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Sample& moved = trial_->outputs[outputs.first + o];
    const Sample& base = base_outputs_[outputs.first + o];
    const double gain[2] = {(moved.value - base.value) / change,
                            (moved.derivative - base.derivative) / change};
    for (int part = 0; part < parts_; ++part) {
      finite = finite && std::isfinite(gain[part]);
      gains_.at(k, o * parts_ + part, column) = gain[part];
    }
  }
  if (subsystems_.own(k).description().constraint) {
    correct_by_equation(k, column);
  }
  return finite;
}

/// What corrects an unknown is it, its own first input, less what is left of its equation: a
/// difference of their difference would have the digits of the one in the larger unit.
void ImplicitCoupling::correct_by_equation(std::size_t k, std::size_t column) {
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts_); ++part) {
    gains_.at(k, constraint_corrected * parts_ + part, column) =
        (column == part ? 1.0 : 0.0) - gains_.at(k, constraint_residual * parts_ + part, column);
  }
}

/// A subsystem that could not be evaluated where its column was moved to: on the other side, or
/// nearer.
bool ImplicitCoupling::difference_again(std::size_t k, std::size_t column) {
  const std::size_t input = gains_.inputs(k)[column / parts_];
  const std::size_t alone[] = {k};
  for (const double part : {-1.0, 1e-2, -1e-2}) {
    trial_->inputs = base_inputs_;
    Sample& sample = trial_->inputs[input];
    (column % parts_ == 0 ? sample.value : sample.derivative) += part * increment(k, column);
    begin_evaluation();
    --evaluations_;  // of one subsystem only
    advance(alone);
    if (take_column(k, column)) {
      return true;
    }
  }
  return false;
}

/// False where some gain cannot be had.
bool ImplicitCoupling::difference_gains() {
  base_outputs_ = trial_->outputs;
  base_inputs_ = trial_->inputs;
  bool complete = true;
  for (std::size_t column = 0; column < static_cast<std::size_t>(widest_); ++column) {
    difference_column(column);
    again_.clear();
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (column < gains_.columns(k) && !take_column(k, column)) {
        again_.push_back(k);
      }
    }
    for (const std::size_t k : again_) {
      complete = difference_again(k, column) && complete;
    }
    trial_->inputs = base_inputs_;
  }
  return agree_on_largest(subsystems_.comm(), complete ? 0 : 1) == 0;
}

/// At v; false where it cannot be had.
bool ImplicitCoupling::renew_jacobian(Vec v) {
  read_unknown(v);
  const bool complete = difference_gains();
  // The subsystems now stand at a perturbed point.
  std::fill(evaluated_.begin(), evaluated_.end(), std::numeric_limits<double>::quiet_NaN());
  last_failed_ = false;
  if (!complete) {
    jacobian_step_ = 0.0;
    return false;
  }
  operator_->assemble(gains_, residual_scale_, scale_);
  jacobian_step_ = step_.size();
  jacobian_age_ = 0;
  jacobian_is_new_ = true;
  jacobian_is_estimated_ = false;
  jacobian_is_of_layer_ = joins_.any_layer();
  jacobian_is_useless_ = false;
  newton_rate_ = 0.0;
  bound_ = 0.0;
  return true;
}

PetscErrorCode ImplicitCoupling::form_jacobian(SNES snes, Vec v, Mat a, Mat p, void* self) {
  auto& coupling = *static_cast<ImplicitCoupling*>(self);
  return coupling.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    ++coupling.jacobian_age_;
    if (coupling.jacobian_is_stale() && !coupling.renew_jacobian(v)) {
      PetscCall(SNESSetJacobianDomainError(snes));
    }
    if (a != p) {
      PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    }
    return 0;
  });
}

}  // namespace concord

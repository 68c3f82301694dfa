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

void ImplicitCoupling::perturb(std::size_t column) {
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (column >= gains_.columns(k)) {
      continue;
    }
    const std::size_t input = gains_.inputs(k)[column / parts_];
    const auto& connected = subsystems_.connected_inputs();
    const auto j = static_cast<std::size_t>(
        std::lower_bound(connected.begin(), connected.end(), input) - connected.begin());
    Sample& sample = trial_->inputs[input];
    double& entry = column % parts_ == 0 ? sample.value : sample.derivative;
    // What an indirect constraint's unknown feeds reaches the outputs with h or h^2 only.
    const double reach = constraints_.begins_afresh(j) ? std::min(1.0, step_.size()) : 1.0;
    entry += difference_step / reach *
             std::max(scale_values_[j * parts_ + column % parts_], std::abs(entry));
  }
}

/// One evaluation moves one column of every subsystem at once: subsystems answer to their own
/// inputs only, so that 2 max_k n_in,k evaluations suffice. Outputs stay where they come from here,
/// whatever the schedule: K is block diagonal.
void ImplicitCoupling::difference_gains() {
  base_outputs_ = trial_->outputs;
  const std::vector<Sample> base_inputs = trial_->inputs;
  for (std::size_t column = 0; column < static_cast<std::size_t>(widest_); ++column) {
    perturb(column);
    begin_evaluation();
    for (const auto& stage : stages_) {
      run(stage);
    }
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (column >= gains_.columns(k)) {
        continue;
      }
      const std::size_t input = gains_.inputs(k)[column / parts_];
      const double change = column % parts_ == 0
                                ? trial_->inputs[input].value - base_inputs[input].value
                                : trial_->inputs[input].derivative - base_inputs[input].derivative;
      const IndexRange outputs = subsystems_.outputs_of(k);
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Sample& moved = trial_->outputs[outputs.first + o];
        const Sample& base = base_outputs_[outputs.first + o];
        const double gain[2] = {(moved.value - base.value) / change,
                                (moved.derivative - base.derivative) / change};
        for (int part = 0; part < parts_; ++part) {
          gains_.at(k, o * parts_ + part, column) = std::isfinite(gain[part]) ? gain[part] : 0.0;
        }
      }
    }
    trial_->inputs = base_inputs;
  }
}

void ImplicitCoupling::renew_jacobian(Vec v) {
  read_unknown(v);
  difference_gains();
  operator_->assemble(gains_, residual_scale_, scale_);
  jacobian_step_ = step_.size();
  jacobian_age_ = 0;
  jacobian_is_new_ = true;
  jacobian_is_useless_ = false;
  // The subsystems now stand at a perturbed point.
  std::fill(evaluated_.begin(), evaluated_.end(), std::numeric_limits<double>::quiet_NaN());
}

PetscErrorCode ImplicitCoupling::form_jacobian(SNES, Vec v, Mat a, Mat p, void* self) {
  auto& coupling = *static_cast<ImplicitCoupling*>(self);
  ++coupling.jacobian_age_;
  if (coupling.jacobian_is_stale()) {
    coupling.renew_jacobian(v);
  }
  if (a != p) {
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  }
  return 0;
}

}  // namespace concord

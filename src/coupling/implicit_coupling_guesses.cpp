// Where the solve of an implicit coupling begins: first guesses, tested where they lead.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// A guess whose residual is this many times as large as the signals is no continuation of them.
constexpr double far_off = 1e3;

}  // namespace

/// The estimators' coupled prediction, left in trial.inputs; once more where it shows that slopes
/// at t_N mislead. False where a subsystem that must be estimated cannot be.
bool ImplicitCoupling::estimate() {
  for (;;) {
    if (estimators_) {
      estimators_->begin_afresh(joins_.afresh());
    }
    const auto state =
        estimators_ ? estimators_->prepare(step_, *point_) : Estimators::State::same_gains;
    const bool failed = state == Estimators::State::failed;
    if (some_estimated_ && agree_on_largest(subsystems_.comm(), failed ? 1 : 0) != 0) {
      return false;
    }
    estimated_ = missiles_ && missiles_->solve(state, step_, *point_, trial_->inputs);
    const bool finds = estimated_ && method_.hold == Hold::hermite &&
                       method_.predictor == Predictor::missiles && !joins_.any_layer();
    if (!finds || !joins_.find_layers(*point_, trial_->inputs, step_.size())) {
      return true;
    }
  }
}

/// The estimators' matrix, where it has changed or is not the one kept.
void ImplicitCoupling::take_jacobian(double h) {
  if (!missiles_->reassembled() && jacobian_step_ != 0.0 && jacobian_is_estimated_) {
    return;
  }
  petsc(MatCopy(missiles_->matrix(), operator_->matrix(), SAME_NONZERO_PATTERN));
  const auto& scales = missiles_->scales();
  std::copy(scales.unknown().begin(), scales.unknown().end(), scale_values_.begin());
  std::copy(scales.residual().begin(), scales.residual().end(), residual_scale_values_.begin());
  some_sizes_unknown_ = agree_on_largest(subsystems_.comm(), scales.some_unknown() ? 1 : 0) != 0;
  write_scale();
  jacobian_step_ = h;
  jacobian_is_estimated_ = true;
  jacobian_is_of_layer_ = joins_.any_layer();
  bound_ = 0.0;
}

/// No Jacobian is kept; the scales are those of now.
void ImplicitCoupling::drop_jacobian() {
  jacobian_step_ = 0.0;
  jacobian_is_new_ = false;
  jacobian_is_estimated_ = false;
  newton_rate_ = 0.0;
  bound_ = 0.0;
  scales_.take(point_->inputs, point_->inputs, step_.size());
  std::copy(scales_.unknown().begin(), scales_.unknown().end(), scale_values_.begin());
  std::copy(scales_.residual().begin(), scales_.residual().end(), residual_scale_values_.begin());
  some_sizes_unknown_ = agree_on_largest(subsystems_.comm(), scales_.some_unknown() ? 1 : 0) != 0;
  write_scale();
}

/// The holds of the past, continued to t_{N+1}.
void ImplicitCoupling::extrapolate() {
  const double h = step_.size();
  if (method_.hold != Hold::hermite) {
    history_.extrapolate(subsystems_.connected_inputs(), trial_->polynomials);
  }
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial_->inputs[i] = method_.hold == Hold::hermite
                            ? point_->polynomials[i].at(point_->last_step + h)
                            : trial_->polynomials[i].at(h);
  }
}

/// Back to the value at t_N: with hermite this is the second-order hold of Eguillon et al. 2019,
/// figure 7.
void ImplicitCoupling::turn_back() {
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial_->inputs[i] = {point_->inputs[i].value,
                         point_->slopes_known ? -point_->inputs[i].derivative : 0.0};
  }
}

/// Leaves a guess in trial.inputs, with the Jacobian and the scales that go with it; false where
/// there is none of this kind.
bool ImplicitCoupling::take_guess(Guess guess) {
  if (guess == Guess::estimated) {
    if (!estimated_) {
      return false;
    }
    if (method_.predictor == Predictor::missiles) {
      take_jacobian(step_.size());
      jacobian_is_new_ = true;
      newton_rate_ = 0.0;
      return true;
    }
  } else if (guess == Guess::held) {
    turn_back();
  } else if (point_->last_step == 0.0) {
    return false;
  } else {
    extrapolate();
  }
  const bool outgrown = jacobian_step_ == 0.0 || jacobian_is_stale() ||
                        scales_.outdated(point_->inputs) ||
                        joins_.any_layer() != jacobian_is_of_layer_;
  if (agree_on_largest(subsystems_.comm(), outgrown ? 1 : 0) != 0) {
    drop_jacobian();
  }
  return true;
}

void ImplicitCoupling::evaluate_guess() {
  write_unknown();
  read_unknown(unknown_);
  integrate();
  write_residual(residual_);
  first_ = measure(residual_);
}

void ImplicitCoupling::judge_guess() {
  guess_is_good_ = error_is_small(first_, residual_);
  if (first_.ratio >= 1.0 && estimators_) {
    learn_terms();
    first_ = measure(residual_);
    guess_is_good_ = error_is_small(first_, residual_);
  }
}

/// Evaluates the guess: whether the iteration may begin there. Where it shows that slopes at t_N
/// mislead, what the outputs then are is the better guess.
bool ImplicitCoupling::look_at(Guess guess) {
  evaluate_guess();
  const bool plain = method_.hold == Hold::hermite &&
                     (guess != Guess::estimated || method_.predictor != Predictor::missiles);
  if (plain && std::isfinite(first_.ratio) && !joins_.any_layer() &&
      joins_.find_layers(*point_, fed_, step_.size())) {
    for (std::size_t j = 0; j < known_.size(); ++j) {
      const std::size_t i = subsystems_.connected_inputs()[j];
      trial_->inputs[i] = joins_.afresh(j) ? fed_[i] : trial_->inputs[i];
    }
    drop_jacobian();
    if (some_estimated_) {
      subsystems_.restore();
      estimators_->begin_afresh(joins_.afresh());
      estimators_->prepare(step_, *point_);
    }
    evaluate_guess();
  }
  Look look{guess, Fault::none, first_.scaled};
  if (!std::isfinite(first_.ratio)) {
    look.fault = Fault::failed;
  } else if (first_.scaled > far_off) {
    look.fault = Fault::far_off;
  }
  looks_.push_back(look);
  guess_is_good_ = false;
  if (look.fault == Fault::none) {
    judge_guess();
  }
  return look.fault == Fault::none;
}

/// The first guess that may be iterated from, else the one that is least far off. With `plain`,
/// without the estimators and what is kept.
bool ImplicitCoupling::find_guess(bool plain) {
  using Order = std::array<Guess, 3>;
  const bool turns_back = method_.predictor == Predictor::hold;
  const Order order = turns_back ? Order{Guess::estimated, Guess::held, Guess::extrapolated}
                                 : Order{Guess::estimated, Guess::extrapolated, Guess::held};
  estimated_ = estimated_ && !plain;
  if (plain) {
    jacobian_step_ = 0.0;
  }
  std::optional<std::size_t> best;
  for (const Guess guess : order) {
    if (!take_guess(guess)) {
      continue;
    }
    if (look_at(guess)) {
      return true;
    }
    if (looks_.back().fault == Fault::far_off &&
        (!best || looks_.back().residual < looks_[*best].residual)) {
      best = looks_.size() - 1;
      base_inputs_ = trial_->inputs;
    }
    if (jacobian_is_estimated_) {
      jacobian_step_ = 0.0;
    }
  }
  if (best && *best + 1 != looks_.size()) {
    trial_->inputs = base_inputs_;
    look_at(looks_[*best].guess);
  }
  return best.has_value();
}

void ImplicitCoupling::write_scale() {
  const auto write = [](const std::vector<double>& values, Vec vector) {
    PetscScalar* s = nullptr;
    petsc(VecGetArrayWrite(vector, &s));
    std::copy(values.begin(), values.end(), s);
    petsc(VecRestoreArrayWrite(vector, &s));
  };
  write(scale_values_, scale_);
  write(residual_scale_values_, residual_scale_);
}

/// The inputs as SNES's unknowns.
void ImplicitCoupling::write_unknown() {
  PetscScalar* v = nullptr;
  petsc(VecGetArrayWrite(unknown_, &v));
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    v[j * parts_] = trial_->inputs[connected[j]].value / scale_values_[j * parts_];
    if (parts_ == 2) {
      v[2 * j + 1] = trial_->inputs[connected[j]].derivative / scale_values_[2 * j + 1];
    }
  }
  std::copy_n(v, evaluated_.size(), evaluated_.begin());
  petsc(VecRestoreArrayWrite(unknown_, &v));
}

/// Inputs that have been 0 until now are as large as the evaluated guess has shown.
void ImplicitCoupling::settle_scales() {
  if (!some_sizes_unknown_) {
    return;
  }
  VecHandle left, right;
  petsc(VecDuplicate(scale_, right.out()));
  petsc(VecDuplicate(residual_scale_, left.out()));
  petsc(VecCopy(scale_, right));
  petsc(VecCopy(residual_scale_, left));
  scales_.take(trial_->inputs, fed_, step_.size());
  std::copy(scales_.unknown().begin(), scales_.unknown().end(), scale_values_.begin());
  std::copy(scales_.residual().begin(), scales_.residual().end(), residual_scale_values_.begin());
  write_scale();
  if (jacobian_step_ != 0.0) {
    petsc(VecPointwiseDivide(left, left, residual_scale_));
    petsc(VecPointwiseDivide(right, scale_, right));
    petsc(MatDiagonalScale(operator_->matrix(), left, right));
    bound_ = 0.0;
  }
  write_unknown();
}

/// "guesses tried: the estimators' prediction (...), ..." where more than one was looked at.
std::string ImplicitCoupling::describe_guesses() const {
  std::ostringstream text;
  const char* separator = "; first guesses tried: ";
  for (const Look& look : looks_) {
    text << separator
         << (look.guess == Guess::estimated      ? "the estimators' prediction"
             : look.guess == Guess::extrapolated ? "the continued inputs"
                                                 : "back to the value before");
    if (look.fault == Fault::failed) {
      text << " (cannot be evaluated)";
    } else {
      text << " (residual " << look.residual << " times the signals' sizes)";
    }
    separator = ", ";
  }
  return looks_.size() > 1 ? text.str() : std::string();
}

}  // namespace concord

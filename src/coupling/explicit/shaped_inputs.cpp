#include "coupling/explicit/shaped_inputs.hpp"

namespace concord {

namespace {

std::vector<std::size_t> with_balance(const RankNetwork& subsystems) {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const IndexRange global = subsystems.network().inputs_of(subsystems.global(k));
    for (std::size_t i = 0; i < global.size(); ++i) {
      if (subsystems.network().connection(global.first + i)) {
        result.push_back(subsystems.inputs_of(k).first + i);
      }
    }
  }
  return result;
}

}  // namespace

ShapedInputs::ShapedInputs(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      measured_(with_balance(subsystems)),
      correction_(method.balance),
      switching_(method.smooth_switching),
      splines_(subsystems.n_inputs()),
      given_(subsystems.n_inputs()),
      true_(subsystems.n_inputs()) {
  if (method.takes_balance()) {
    errors_.emplace(subsystems.n_inputs(),
                    correction_ == Balance::none ? 0 : method.balance_spread);
  }
}

template <class Use>
void ShapedInputs::for_inputs_of(std::span<const std::size_t> which, const Use& use) const {
  for (const std::size_t k : which) {
    const IndexRange inputs = subsystems_.inputs_of(k);
    for (std::size_t i = inputs.first; i < inputs.last; ++i) {
      use(i);
    }
  }
}

void ShapedInputs::begin(const MacroStep& step, const CommunicationPoint& point) {
  if (errors_) {
    errors_->begin(step.size(), point.last_step);
  }
}

Outcome ShapedInputs::advance(std::span<const std::size_t> which, const MacroStep& step,
                              const CommunicationPoint& point, Wanted wanted, Trial& trial) {
  const bool corrects_smoothly = correction_ == Balance::smooth && point.last_step > 0.0;
  if (corrects_smoothly || switches(point)) {
    return advance_in_pieces(which, step, point, wanted, trial);
  }
  if (correction_ != Balance::constant) {
    return subsystems_.advance(which, step, trial.polynomials, InputContinuity::broken, wanted,
                               trial.outputs);
  }
  for_inputs_of(which, [&](std::size_t i) {
    given_[i] = trial.polynomials[i];
    given_[i].c[0] += errors_->due(i) / step.size();
  });
  return subsystems_.advance(which, step, given_, InputContinuity::broken, wanted, trial.outputs);
}

/// The hold, after the last one where that is asked for.
InputSpline ShapedInputs::spline(std::size_t input, double h, const CommunicationPoint& point,
                                 const Trial& trial) const {
  return switches(point)
             ? InputSpline(point.polynomials[input], point.last_step, trial.polynomials[input], h)
             : InputSpline(trial.polynomials[input], h);
}

Outcome ShapedInputs::advance_in_pieces(std::span<const std::size_t> which, const MacroStep& step,
                                        const CommunicationPoint& point, Wanted wanted,
                                        Trial& trial) {
  constexpr int pieces = InputSpline::pieces;
  const double h = step.size();
  for_inputs_of(which, [&](std::size_t i) {
    splines_[i] = spline(i, h, point, trial);
    if (correction_ == Balance::smooth) {
      splines_[i].add_bump(errors_->due(i), h);
    }
  });
  Outcome outcome = Outcome::ok;
  MacroStep piece{step.begin, step.begin, 0.0};
  for (int p = 0; p < pieces && outcome == Outcome::ok; ++p) {
    const bool last = p + 1 == pieces;
    piece = {piece.end, last ? step.end : step.begin + h * (p + 1) / pieces, h / pieces};
    for_inputs_of(which, [&](std::size_t i) { given_[i] = splines_[i].piece(p, h); });
    const bool continues = p > 0 || switches(point);
    outcome = subsystems_.advance(which, piece, given_,
                                  continues ? InputContinuity::smooth : InputContinuity::broken,
                                  last ? wanted : Wanted::values, trial.outputs);
  }
  return outcome;
}

void ShapedInputs::measure(const MacroStep& step, const CommunicationPoint& point,
                           const Trial& trial, Wanted wanted, const SignalHistory& history) {
  if (!errors_) {
    return;
  }
  const double h = step.size();
  const bool slopes = wanted == Wanted::values_and_derivatives;
  if (!slopes) {
    history.reconstruct(h, measured_, trial.inputs, true_);
  }
  for (const std::size_t i : measured_) {
    const double truth =
        slopes ? hermite_integral(point.inputs[i], trial.inputs[i], h) : integral(true_[i], h);
    const double held = switches(point) ? spline(i, h, point, trial).integral(h)
                                        : integral(trial.polynomials[i], h);
    errors_->measure(i, truth, held);
  }
}

void ShapedInputs::commit() {
  if (errors_) {
    errors_->commit();
  }
}

void ShapedInputs::restart() {
  if (errors_) {
    errors_->forget();
  }
}

}  // namespace concord

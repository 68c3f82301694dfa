#include "coupling/implicit/first_guess.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// A guess whose residual is this many times as large as the signals is no continuation of them.
constexpr double far_off = 1e3;

/// Three guesses and the best of them again, with and without the estimators.
constexpr std::size_t most_looks = 8;

}  // namespace

FirstGuess::FirstGuess(const Method& method, RankNetwork& subsystems, Joins& joins,
                       Estimators* estimators, MissilesSystem* missiles, CouplingUnknowns& unknowns,
                       CouplingEvaluation& evaluation, CouplingJacobian& jacobian,
                       CouplingConvergence& convergence, const StepAttempt& attempt)
    : method_(method),
      subsystems_(subsystems),
      joins_(joins),
      estimators_(estimators),
      missiles_(missiles),
      unknowns_(unknowns),
      evaluation_(evaluation),
      jacobian_(jacobian),
      convergence_(convergence),
      attempt_(attempt),
      history_(subsystems.n_inputs(), std::min(method.hold.degree + 1, 2)) {
  looks_.reserve(most_looks);
}

bool FirstGuess::begin() {
  joins_.begin();
  looks_.clear();
  failure_.reset();
  supposed_ = {};
  const auto state = prepare();
  return (is_calm() && suppose(state)) || predict(state);
}

Estimators::State FirstGuess::prepare() {
  if (estimators_ == nullptr) {
    return Estimators::State::same_gains;
  }
  estimators_->begin_afresh(joins_.afresh());
  return estimators_->prepare(attempt_.step, *attempt_.point);
}

/// The estimators' coupled prediction, left in trial.inputs; once more where it shows that slopes
/// at t_N mislead.
bool FirstGuess::predict(Estimators::State state) {
  const CommunicationPoint& point = *attempt_.point;
  for (;; state = prepare()) {
    const bool failed = state == Estimators::State::failed;
    if (evaluation_.some_estimated() && agree_on_largest(subsystems_.comm(), failed ? 1 : 0) != 0) {
      return false;
    }
    estimated_ = missiles_ != nullptr &&
                 missiles_->solve(state, attempt_.step, point, attempt_.trial->inputs);
    const bool finds = estimated_ && method_.hold.ends_with_slope() &&
                       method_.predictor == Predictor::missiles && !joins_.any_layer();
    if (!finds || !joins_.find_layers(point, attempt_.trial->inputs, attempt_.h())) {
      calm_ = estimated_ && !missiles_->did_more() && !joins_.any_layer() ? calm_ + 1 : 0;
      calm_h_ = attempt_.h();
      return true;
    }
  }
}

/// The same on every rank: whether the prediction probably needs no more than the kept matrix. A
/// supposition that fails costs an evaluation.
bool FirstGuess::is_calm() const {
  constexpr int patience = 8;
  constexpr double same_step = 1e-12;
  return method_.predictor == Predictor::missiles && calm_ >= patience &&
         std::abs(attempt_.h() - calm_h_) <= same_step * calm_h_ &&
         attempt_.point->last_step > 0.0 && !evaluation_.some_estimated();
}

/// The prediction by the kept matrix; false where that cannot be solved.
bool FirstGuess::suppose(Estimators::State state) {
  const CommunicationPoint& point = *attempt_.point;
  const std::span<Sample> inputs = attempt_.trial->inputs;
  estimated_ = missiles_->solve_again(point, inputs);
  const bool finds = method_.hold.ends_with_slope() && method_.predictor == Predictor::missiles;
  if (estimated_) {
    supposed_ = {.objected = !missiles_->serves(state, point) ||
                             (finds && joins_.sees_layer(point, inputs, attempt_.h())),
                 .state = state};
  }
  return estimated_;
}

/// The holds of the past, continued to t_{N+1}.
void FirstGuess::extrapolate() {
  Trial& trial = *attempt_.trial;
  const CommunicationPoint& point = *attempt_.point;
  if (!method_.hold.ends_with_slope()) {
    history_.extrapolate(subsystems_.connected_inputs(), trial.polynomials);
  }
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i] = method_.hold.ends_with_slope()
                          ? point.polynomials[i].at(point.last_step + attempt_.h())
                          : trial.polynomials[i].at(attempt_.h());
  }
}

/// Back to the value at t_N: with hermite this is the second-order hold of Eguillon et al. 2019,
/// figure 7.
void FirstGuess::turn_back() {
  const CommunicationPoint& point = *attempt_.point;
  for (const std::size_t i : subsystems_.connected_inputs()) {
    const double slope = point.slopes_known ? point.inputs[i].derivative : 0.0;
    attempt_.trial->inputs[i] = {point.inputs[i].value, -slope, -2.0 * slope / attempt_.h()};
  }
}

/// Leaves a guess in trial.inputs, with the Jacobian and the scales that go with it; false where
/// there is none of this kind.
bool FirstGuess::take(Guess guess) {
  if (guess == Guess::estimated) {
    if (!estimated_) {
      return false;
    }
    if (method_.predictor == Predictor::missiles) {
      jacobian_.take_estimated();
      return true;
    }
  } else if (guess == Guess::held) {
    turn_back();
  } else if (attempt_.point->last_step == 0.0) {
    return false;
  } else {
    extrapolate();
  }
  if (jacobian_.outgrown()) {
    jacobian_.drop();
  }
  return true;
}

/// Slopes at t_N that mislead are looked for once, in what is best known of the end: by `predict`
/// where the guess is its.
bool FirstGuess::looks_for_layers(Guess guess) const {
  return method_.hold.ends_with_slope() && !joins_.any_layer() &&
         (guess != Guess::estimated || method_.predictor != Predictor::missiles);
}

void FirstGuess::evaluate(Guess guess) {
  const bool objects = guess == Guess::estimated && supposed_.objected;
  unknowns_.write(attempt_.trial->inputs);
  evaluation_.evaluate(unknowns_.vector());
  const bool sees_layer = looks_for_layers(guess) &&
                          joins_.sees_layer(*attempt_.point, evaluation_.fed(), attempt_.h());
  convergence_.measure_guess({.objects = objects, .sees_layer = sees_layer});
}

/// Evaluates the guess that was taken, where some rank objects once more with an agreed prediction;
/// false where there is none then.
bool FirstGuess::reach(Guess guess) {
  evaluate(guess);
  if (!convergence_.first().objected) {
    return true;
  }
  jacobian_.begin();
  predict(std::exchange(supposed_, {}).state);
  if (!take(guess)) {
    return false;
  }
  evaluate(guess);
  return true;
}

/// What the outputs are where slopes at t_N mislead is the better guess.
void FirstGuess::begin_layers_afresh(Guess guess) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    Sample& input = attempt_.trial->inputs[connected[j]];
    input = joins_.afresh(j) ? evaluation_.fed()[connected[j]] : input;
  }
  jacobian_.drop();
  if (evaluation_.some_estimated()) {
    subsystems_.restore();
    prepare();
  }
  evaluate(guess);
}

/// Whether the iteration may begin at the guess that was evaluated.
bool FirstGuess::look_at(Guess guess) {
  if (convergence_.first().sees_layer && std::isfinite(convergence_.first().ratio) &&
      joins_.find_layers(*attempt_.point, evaluation_.fed(), attempt_.h())) {
    begin_layers_afresh(guess);
  }
  const CouplingResidual& first = convergence_.first();
  Look look{guess, Fault::none, first.scaled};
  if (!std::isfinite(first.ratio)) {
    look.fault = Fault::failed;
    failure_ = subsystems_.failure();
  } else if (first.scaled > far_off) {
    look.fault = Fault::far_off;
  }
  looks_.push_back(look);
  good_ = look.fault == Fault::none && convergence_.judge_guess();
  return look.fault == Fault::none;
}

bool FirstGuess::find(bool plain) {
  using Order = std::array<Guess, 3>;
  const Order order = method_.predictor == Predictor::hold
                          ? Order{Guess::estimated, Guess::held, Guess::extrapolated}
                          : Order{Guess::estimated, Guess::extrapolated, Guess::held};
  estimated_ = estimated_ && !plain;
  if (plain) {
    jacobian_.forget();
  }
  std::optional<std::size_t> best;
  for (const Guess guess : order) {
    if (!take(guess) || !reach(guess)) {
      continue;
    }
    if (look_at(guess)) {
      return true;
    }
    if (looks_.back().fault == Fault::far_off &&
        (!best || looks_.back().residual < looks_[*best].residual)) {
      best = looks_.size() - 1;
      best_inputs_ = attempt_.trial->inputs;
    }
    jacobian_.forget_estimated();
  }
  if (best && *best + 1 != looks_.size()) {
    attempt_.trial->inputs = best_inputs_;
    evaluate(looks_[*best].guess);
    look_at(looks_[*best].guess);
  }
  return best.has_value();
}

std::string FirstGuess::describe(const std::string& told) {
  const auto failure = agree_on_text(subsystems_.comm(), failure_);
  std::string reason = failure && *failure != told ? ": " + *failure : "";
  std::ostringstream text;
  const char* separator = "; first guesses tried: ";
  for (const Look& look : looks_) {
    text << separator
         << (look.guess == Guess::estimated      ? "the estimators' prediction"
             : look.guess == Guess::extrapolated ? "the continued inputs"
                                                 : "back to the value before");
    if (look.fault == Fault::failed) {
      text << " (cannot be evaluated" << std::exchange(reason, "") << ")";
    } else {
      text << " (residual " << look.residual << " times the signals' sizes)";
    }
    separator = ", ";
  }
  return looks_.size() > 1 ? text.str() : std::string();
}

}  // namespace concord

#include "coupling/first_guess.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <sstream>

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
      history_(subsystems.n_inputs(), method.hold == Hold::zoh ? 1 : 2) {
  looks_.reserve(most_looks);
}

/// The estimators' coupled prediction, left in trial.inputs; once more where it shows that slopes
/// at t_N mislead.
bool FirstGuess::begin() {
  const CommunicationPoint& point = *attempt_.point;
  joins_.begin();
  looks_.clear();
  for (;;) {
    if (estimators_ != nullptr) {
      estimators_->begin_afresh(joins_.afresh());
    }
    const auto state = estimators_ != nullptr ? estimators_->prepare(attempt_.step, point)
                                              : Estimators::State::same_gains;
    const bool failed = state == Estimators::State::failed;
    if (evaluation_.some_estimated() && agree_on_largest(subsystems_.comm(), failed ? 1 : 0) != 0) {
      return false;
    }
    estimated_ = missiles_ != nullptr &&
                 missiles_->solve(state, attempt_.step, point, attempt_.trial->inputs);
    const bool finds = estimated_ && method_.hold == Hold::hermite &&
                       method_.predictor == Predictor::missiles && !joins_.any_layer();
    if (!finds || !joins_.find_layers(point, attempt_.trial->inputs, attempt_.h())) {
      return true;
    }
  }
}

/// The holds of the past, continued to t_{N+1}.
void FirstGuess::extrapolate() {
  Trial& trial = *attempt_.trial;
  const CommunicationPoint& point = *attempt_.point;
  if (method_.hold != Hold::hermite) {
    history_.extrapolate(subsystems_.connected_inputs(), trial.polynomials);
  }
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i] = method_.hold == Hold::hermite
                          ? point.polynomials[i].at(point.last_step + attempt_.h())
                          : trial.polynomials[i].at(attempt_.h());
  }
}

/// Back to the value at t_N: with hermite this is the second-order hold of Eguillon et al. 2019,
/// figure 7.
void FirstGuess::turn_back() {
  const CommunicationPoint& point = *attempt_.point;
  for (const std::size_t i : subsystems_.connected_inputs()) {
    attempt_.trial->inputs[i] = {point.inputs[i].value,
                                 point.slopes_known ? -point.inputs[i].derivative : 0.0};
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
      jacobian_.take(*missiles_);
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

void FirstGuess::evaluate() {
  unknowns_.write(attempt_.trial->inputs);
  evaluation_.evaluate(unknowns_.vector());
  convergence_.measure_guess();
}

/// What the outputs are where slopes at t_N mislead is the better guess.
void FirstGuess::begin_layers_afresh() {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    Sample& input = attempt_.trial->inputs[connected[j]];
    input = joins_.afresh(j) ? evaluation_.fed()[connected[j]] : input;
  }
  jacobian_.drop();
  if (evaluation_.some_estimated()) {
    subsystems_.restore();
    estimators_->begin_afresh(joins_.afresh());
    estimators_->prepare(attempt_.step, *attempt_.point);
  }
  evaluate();
}

/// Evaluates the guess: whether the iteration may begin there.
bool FirstGuess::look_at(Guess guess) {
  evaluate();
  const bool plain = method_.hold == Hold::hermite &&
                     (guess != Guess::estimated || method_.predictor != Predictor::missiles);
  if (plain && std::isfinite(convergence_.first().ratio) && !joins_.any_layer() &&
      joins_.find_layers(*attempt_.point, evaluation_.fed(), attempt_.h())) {
    begin_layers_afresh();
  }
  const CouplingResidual& first = convergence_.first();
  Look look{guess, Fault::none, first.scaled};
  if (!std::isfinite(first.ratio)) {
    look.fault = Fault::failed;
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
    if (!take(guess)) {
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
    look_at(looks_[*best].guess);
  }
  return best.has_value();
}

std::string FirstGuess::describe() const {
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

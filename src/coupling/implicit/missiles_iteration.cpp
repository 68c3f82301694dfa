#include "coupling/implicit/missiles_iteration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/agreement.hpp"

namespace concord {
namespace {

bool everyone_rolls_back(const RankNetwork& subsystems) {
  const auto all = subsystems.all();
  const bool own = std::all_of(all.begin(), all.end(), [&](std::size_t k) {
    return subsystems.own(k).description().capabilities.rollback;
  });
  return agree_on_largest(subsystems.comm(), own ? 0 : 1) == 0;
}

}  // namespace

MissilesIteration::MissilesIteration(RankNetwork& subsystems, Joins& joins, Estimators& estimators,
                                     MissilesSystem& system, const InputMisses& misses,
                                     const std::vector<Sample>& fed, int most)
    : subsystems_(subsystems),
      joins_(joins),
      estimators_(estimators),
      system_(system),
      misses_(misses),
      fed_(fed),
      most_(most),
      possible_(everyone_rolls_back(subsystems)) {}

/// Integrates once more; the ratio there.
MissilesIteration::Again MissilesIteration::again_by(const std::function<void()>& integrate) {
  return [this, &integrate] {
    subsystems_.restore();
    integrate();
    ++corrections_;
    return misses_.finite() ? misses_.ratio() : std::numeric_limits<double>::infinity();
  };
}

void MissilesIteration::settle(const CommunicationPoint& point, Trial& trial,
                               const std::function<void()>& integrate) {
  constexpr double nothing_but_noise = 1e-4;
  if (misses_.finite()) {
    correct(point, trial, misses_.ratio(), nothing_but_noise, again_by(integrate));
  }
}

void MissilesIteration::run(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                            const std::function<void()>& integrate) {
  constexpr double helpful = 0.1;  // left of a prediction that is far off, and not made of noise
  const Again again = again_by(integrate);
  double ratio = misses_.ratio();
  const double predicted = std::isfinite(ratio) ? ratio : std::numeric_limits<double>::max();
  if (!misses_.finite()) {
    for (const std::size_t i : subsystems_.connected_inputs()) {
      trial.inputs[i] = {point.inputs[i].value, 0.0};
    }
    ratio = again();
  }
  if (misses_.finite() && !out_of_time() && begin_layers_afresh(step, point, trial)) {
    ratio = again();
  }
  if (misses_.finite()) {
    ratio = correct(point, trial, ratio, 1.0, again);
    ratio = ratio >= 1.0 && !ended_early_ ? feed_back(trial, ratio, again) : ratio;
  }
  done_ = corrections_ > 0 || !ended_early_;
  if (ended_early_) return;
  in_vain_ = misses_.far_off() ? in_vain_ + 1 : 0;
  unfinished_ = ratio >= 1.0 && ratio < helpful * predicted && misses_.noticeable();
}

/// Newton's method with the estimators' matrix, as long as it is quick and the ratio not below
/// `enough`; what is left of it.
double MissilesIteration::correct(const CommunicationPoint& point, Trial& trial, double ratio,
                                  double enough, const Again& again) {
  bool quick = true;
  for (int it = 0; quick && ratio >= enough && it < most_; ++it) {
    if ((ended_early_ = out_of_time())) return ratio;
    best_.assign(trial.inputs.begin(), trial.inputs.end());
    estimators_.match(trial.inputs, trial.outputs);
    if (!system_.solve_again(point, trial.inputs)) {
      return ratio;
    }
    const double next = again();
    quick = next < 0.5 * ratio;
    if (next < ratio) {
      ratio = next;
    } else {
      std::copy(best_.begin(), best_.end(), trial.inputs.begin());
      ratio = again();
    }
  }
  return ratio;
}

/// Where the matrix is no longer the subsystems', inputs become what they are fed, which takes some
/// rounds to come around; what is left of the ratio.
double MissilesIteration::feed_back(Trial& trial, double ratio, const Again& again) {
  constexpr int most_slow_rounds = 4;  // in a row, without halving what is left
  best_.assign(trial.inputs.begin(), trial.inputs.end());
  double now = ratio;
  for (int slow = 0, it = 0;
       slow < most_slow_rounds && now >= 1.0 && misses_.finite() && it < most_; ++it) {
    if ((ended_early_ = out_of_time())) break;
    for (const std::size_t i : subsystems_.connected_inputs()) {
      trial.inputs[i] = fed_[i];
    }
    now = again();
    slow = now < 0.5 * ratio ? 0 : slow + 1;
    if (now < ratio) {
      ratio = now;
      best_.assign(trial.inputs.begin(), trial.inputs.end());
    }
  }
  if (now <= ratio) {
    return now;
  }
  std::copy(best_.begin(), best_.end(), trial.inputs.begin());
  return again();
}

/// What is fed shows layers that the prediction did not: inputs in them begin afresh, at what is
/// fed.
bool MissilesIteration::begin_layers_afresh(const MacroStep& step, const CommunicationPoint& point,
                                            Trial& trial) {
  if (joins_.any_layer() || !joins_.find_layers(point, fed_, step.size())) {
    return false;
  }
  subsystems_.restore();
  estimators_.begin_afresh(joins_.afresh());
  system_.solve(estimators_.prepare(step, point), step, point, trial.inputs);
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i] = fed_[i];
  }
  return true;
}

void MissilesIteration::commit() {
  constexpr int longest_rest = 64;
  if (done_) {
    resting_ = in_vain_ > 0 ? std::min(longest_rest, 1 << std::min(in_vain_, 10)) : 0;
  } else {
    resting_ = std::max(0, resting_ - 1);
  }
}

}  // namespace concord

#include "coupling/implicit/missiles_coupling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "coupling/points/constraint_start.hpp"
#include "signal/smallest_size.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

/// Shares of a signal's size by which a prediction misses it: one that is of no use, and one that
/// shows.
constexpr double far_off = 0.5;
constexpr double noticeable = 1e-4;

/// Macro-steps in a row that are far off, and growth of a signal meanwhile, after which a run that
/// cannot be iterated is no result. Where a subsystem jumps, one or two macro-steps miss it.
constexpr int most_missed = 3;
constexpr double growth_astray = 100.0;

/// Growth of a signal, missed noticeably in each macro-step, that an iteration must confirm.
constexpr double doubtful_growth = 1e6;

/// What an iteration that isn't made of noise leaves of a prediction that is far off.
constexpr double helpful = 0.1;

/// Rounds of feeding back, in a row, that may do without halving what is left.
constexpr int most_slow_rounds = 4;

/// Where iterations don't help, at the noise of signals that ought to be 0, they are tried in ever
/// fewer macro-steps.
constexpr int longest_rest = 64;

bool everyone_rolls_back(const RankNetwork& subsystems) {
  const auto all = subsystems.all();
  const bool own = std::all_of(all.begin(), all.end(), [&](std::size_t k) {
    return subsystems.own(k).description().capabilities.rollback;
  });
  return agree_on_largest(subsystems.comm(), own ? 0 : 1) == 0;
}

}  // namespace

MissilesCoupling::MissilesCoupling(const Method& method, RankNetwork& subsystems)
    : method_(method),
      subsystems_(subsystems),
      consistent_(subsystems),
      constraints_(subsystems),
      constraint_sizes_(subsystems),
      joins_(subsystems, constraints_),
      estimators_(subsystems, method.estimator),
      system_(subsystems, estimators_, method.tolerance),
      error_(subsystems, method.adapt_tolerance),
      fed_(subsystems.n_inputs()),
      rolls_back_(everyone_rolls_back(subsystems)),
      sizes_(subsystems.connected_inputs().size(), 0.0) {}

void MissilesCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, Wanted::values_and_derivatives, first, stop, point);
  start_constraints(subsystems_, consistent_, constraints_, method_.tolerance, point);
  constraint_sizes_.see(point.inputs, point.outputs);
  error_.restart(point);
}

/// Inputs at the end of the macro-step; once more where they show that slopes at t_N mislead.
bool MissilesCoupling::predict(const MacroStep& step, const CommunicationPoint& point,
                               Trial& trial) {
  const PhaseScope scope(subsystems_.clock(), Phase::solve);
  joins_.begin();
  for (;;) {
    estimators_.begin_afresh(joins_.afresh());
    const auto state = estimators_.prepare(step, point);
    if (!system_.solve(state, step, point, trial.inputs)) {
      return false;
    }
    if (joins_.any_layer() || !joins_.find_layers(point, trial.inputs, step.size())) {
      return true;
    }
  }
}

CouplingReport MissilesCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  CouplingReport report;
  report.status = CouplingStatus::failed;
  iterated_ = unfinished_ = false;
  run_away_.reset();
  if (!predict(step, point, trial)) {
    return report;
  }
  report.linear_iterations = static_cast<std::int32_t>(system_.linear_iterations());
  integrate(step, point, trial, report);
  growth_ = growth();
  const bool doubtful = growth_ > doubtful_growth;
  if (rolls_back_ && (doubtful || (miss_ > far_off && resting_ == 0))) {
    iterate(step, point, trial, report);
  }
  report.residual = ratio_;
  if (method_.estimate == ErrorEstimate::predictor) {
    report.error = error_.norm(step, point, trial, fed_, {});
    report.error_order = PredictionError::order;
    if (report.error > ErrorNorm::doubtful) {
      learn_terms(trial);
      report.error = error_.norm(step, point, trial, fed_, terms_);
    }
  }
  report.status = runs_away(trial) ? CouplingStatus::failed : CouplingStatus::converged;
  return report;
}

/// What the outputs are sums of, as the inputs see it.
void MissilesCoupling::learn_terms(const Trial& trial) {
  output_terms_.resize(subsystems_.n_outputs());
  terms_.resize(subsystems_.n_inputs());
  estimators_.output_terms(trial.inputs, output_terms_);
  subsystems_.exchange(output_terms_, terms_);
}

/// Every subsystem once, with the inputs that end in trial.inputs.
void MissilesCoupling::integrate(const MacroStep& step, const CommunicationPoint& point,
                                 Trial& trial, CouplingReport& report) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    trial.polynomials[i] = joins_.afresh(j)
                               ? from_end(Hold::hermite, trial.inputs[i], step.size())
                               : from_guess(Hold::hermite, point.inputs[i], trial.inputs[i],
                                            step.size(), point.slopes_known);
  }
  const bool joined = point.last_step > 0.0 && !constraints_.any_indirect() &&
                      !joins_.any_layer() && report.evaluations == 0;
  const auto continuity = joined ? InputContinuity::smooth : InputContinuity::broken;
  const Outcome outcome =
      subsystems_.advance(subsystems_.all(), step, trial.polynomials, continuity,
                          Wanted::values_and_derivatives, trial.outputs);
  subsystems_.exchange(trial.outputs, fed_);
  ++report.evaluations;
  measure(trial, outcome);
}

/// From where the prediction led, or from the values at t_N where that fails, to the coupling's
/// tolerance or as far as it comes; trial is the best there was.
void MissilesCoupling::iterate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                               CouplingReport& report) {
  const auto again = [&] {
    subsystems_.restore();
    integrate(step, point, trial, report);
    return std::isfinite(miss_) ? ratio_ : std::numeric_limits<double>::infinity();
  };
  iterated_ = true;
  double ratio = ratio_;
  const double predicted = std::isfinite(ratio) ? ratio : std::numeric_limits<double>::max();
  if (!std::isfinite(miss_)) {
    for (const std::size_t i : subsystems_.connected_inputs()) {
      trial.inputs[i] = {point.inputs[i].value, 0.0};
    }
    ratio = again();
  }
  if (std::isfinite(miss_) && begin_layers_afresh(step, point, trial)) {
    ratio = again();
  }
  if (std::isfinite(miss_)) {
    ratio = correct(point, trial, ratio, again);
    ratio = ratio >= 1.0 ? feed_back(trial, ratio, again) : ratio;
  }
  report.iterations = report.evaluations - 1;
  in_vain_ = miss_ > far_off ? in_vain_ + 1 : 0;
  unfinished_ = ratio >= 1.0 && ratio < helpful * predicted && miss_ > noticeable;
}

/// Newton's method with the estimators' matrix, as long as it is quick; what is left of the ratio.
template <class Again>
double MissilesCoupling::correct(const CommunicationPoint& point, Trial& trial, double ratio,
                                 const Again& again) {
  bool quick = true;
  for (int it = 0; quick && ratio >= 1.0 && it < method_.max_it; ++it) {
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
template <class Again>
double MissilesCoupling::feed_back(Trial& trial, double ratio, const Again& again) {
  best_.assign(trial.inputs.begin(), trial.inputs.end());
  double now = ratio;
  for (int slow = 0, it = 0;
       slow < most_slow_rounds && now >= 1.0 && std::isfinite(miss_) && it < method_.max_it; ++it) {
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
bool MissilesCoupling::begin_layers_afresh(const MacroStep& step, const CommunicationPoint& point,
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

/// Sizes are of the unknown's input, or of what is summed up in a constraint's equation.
MissilesCoupling::Row MissilesCoupling::row(std::size_t j, const Trial& trial) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const double value = constraints_.size(j, trial.inputs);
  const double size =
      constraints_.is_equation(j)
          ? std::max(value, constraints_.usual_size(j))
          : std::max({subsystems_.input_sizes()[i], value, std::abs(fed_[i].value)});
  return {std::abs(constraints_.rest_of(j, trial.inputs[i], fed_[i], trial.outputs).value), value,
          size};
}

/// By how much of its size input j misses what feeds it; of one that has never been anything but 0
/// nobody can say.
double MissilesCoupling::miss(std::size_t j, const Row& row) const {
  const double known = constraints_.is_equation(j)
                           ? row.size
                           : subsystems_.input_sizes()[subsystems_.connected_inputs()[j]];
  return (known > 0.0 || !std::isfinite(row.rest)) && row.rest != 0.0 ? row.rest / row.size : 0.0;
}

/// The largest of any rank: misses, infinite where a subsystem has failed or what is put out isn't
/// finite, and what is left of the coupling condition in units of the tolerance.
void MissilesCoupling::measure(const Trial& trial, Outcome outcome) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  double worst[2] = {outcome == Outcome::ok ? 0.0 : unknown, 0.0};
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    const Row own = row(j, trial);
    const double missed = miss(j, own);
    worst[0] = std::isfinite(missed) ? std::max(worst[0], missed) : unknown;
    if (own.rest > 0.0) {
      const double allowed = method_.tolerance.of(own.value, own.size);
      worst[1] = std::max(worst[1], own.rest / std::max(allowed, smallest_size));
    }
  }
  agree_on_largest(subsystems_.comm(), worst);
  miss_ = worst[0];
  ratio_ = worst[1];
}

/// Of the signal that has grown most since they are missed; 1 where they aren't. Collective.
double MissilesCoupling::growth() {
  if (!(miss_ > noticeable) || !std::isfinite(miss_)) {
    return 1.0;
  }
  const auto& connected = subsystems_.connected_inputs();
  double largest = 1.0;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double now = std::abs(fed_[connected[j]].value);
    if (missed_ == 0) {
      const double before = subsystems_.input_sizes()[connected[j]];
      sizes_[j] = before > 0.0 ? before : now;
    }
    largest = sizes_[j] > 0.0 ? std::max(largest, now / sizes_[j]) : largest;
  }
  return agree_on_largest(subsystems_.comm(), largest);
}

/// Whether the trial is no result.
bool MissilesCoupling::runs_away(const Trial& trial) {
  if (!std::isfinite(miss_)) {
    return true;
  }
  const bool astray = miss_ > far_off && far_off_ + 1 >= most_missed && growth_ > growth_astray;
  if (astray || unfinished_ || (iterated_ && growth_ > doubtful_growth && miss_ > noticeable)) {
    run_away_ = words_of_worst(trial);
    return true;
  }
  return false;
}

/// Empty where the worst input is another rank's.
std::string MissilesCoupling::words_of_worst(const Trial& trial) const {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (miss(j, row(j, trial)) < miss_) {
      continue;
    }
    const std::size_t i = connected[j];
    std::size_t k = 0;
    while (subsystems_.inputs_of(k).last <= i) {
      ++k;
    }
    const auto& subsystem = subsystems_.own(k).description();
    std::ostringstream words;
    words << "input '" << subsystem.name << "."
          << subsystem.inputs[i - subsystems_.inputs_of(k).first].name << "' was predicted as "
          << trial.inputs[i].value << " and is fed " << fed_[i].value;
    if (unfinished_) {
      words << ", and iterations don't bring them together";
    } else {
      words << ", signals have grown " << growth_ << " times in " << missed_ + 1
            << " macro-steps that all missed them";
    }
    return words.str();
  }
  return {};
}

void MissilesCoupling::commit(const CommunicationPoint& point) {
  system_.commit(point);
  constraint_sizes_.see(point.inputs, point.outputs);
  if (iterated_) {
    estimators_.forget();
    resting_ = in_vain_ > 0 ? std::min(longest_rest, 1 << std::min(in_vain_, 10)) : 0;
  } else {
    estimators_.observe(point);
    resting_ = std::max(0, resting_ - 1);
  }
  missed_ = miss_ > noticeable ? missed_ + 1 : 0;
  far_off_ = miss_ > far_off ? far_off_ + 1 : 0;
  if (method_.estimate == ErrorEstimate::predictor) {
    error_.commit(point);
  }
}

void MissilesCoupling::restart(CommunicationPoint& point) {
  make_touched_consistent(subsystems_, consistent_, Wanted::values_and_derivatives, point);
  restart_constraints(subsystems_, consistent_, constraints_, point);
  estimators_.restart_touched();
  error_.restart(point);
  missed_ = far_off_ = resting_ = in_vain_ = 0;
}

std::string MissilesCoupling::explain(const CouplingReport& report) {
  if (const auto words = agree_on_text(
          subsystems_.comm(), run_away_ && !run_away_->empty() ? run_away_ : std::nullopt)) {
    return "MISSILES runs away: " + *words + "; use a smaller -cosim_step" +
           (rolls_back_ ? ", or -cosim_type jfm" : ", or -cosim_adapt predictor");
  }
  if (const auto failure = estimators_.explain()) {
    return *failure;
  }
  return report.evaluations > 0
             ? "what the subsystems put out is not finite; use a smaller -cosim_step"
             : "the linear system of MISSILES could not be solved; try another -missiles_pc_type, "
               "or a smaller -cosim_step";
}

}  // namespace concord

#include "simulation/event_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What is no time between two instants. Where their intervals are alike fractions of each other:
/// in units of the time within which instants are one, as macro-steps become as small as the
/// intervals where something controls them. Where they go on for long: of the largest macro-step.
constexpr double slacks_that_are_none = 1e3, share_that_is_none = 1e-6;

constexpr int most_aims = 20;
/// Macro-steps in a row that end at an event which then is not there.
constexpr int most_in_vain = 10;

}  // namespace

void EventSteps::propose(const MacroStep& step) {
  now_.in_vain = std::exchange(now_.missed, false) ? now_.in_vain + 1 : 0;
  proposed_ = step;
  now_.usual = std::max(now_.usual, step.size());
  slack_ = slack_of(step, share_of_instant_);
  aims_ = 0;
}

bool EventSteps::repeats(const MacroStep& step, bool converged, std::span<const Sample> fed) {
  event_ = events_.next(fed);
  if (!rolls_back_ || aims_ == most_aims || now_.in_vain > most_in_vain) {
    return false;
  }
  const double ahead = event_ - step.end;
  const bool within = ahead < -slack_;
  const bool just_behind =
      aims_ > 0 && converged && ahead > slack_ && ahead < step.size() && event_ < proposed_.end;
  const double aim = std::max(event_, step.begin + 2.0 * slack_);
  if (!(within && aim < step.end) && !just_behind) {
    return false;
  }
  aim_ = aim;
  ++aims_;
  now_.missed = true;
  return true;
}

bool EventSteps::arrives(const MacroStep& step) const {
  return any() && std::min(event_, now_.next_time) <= step.end + slack_;
}

bool EventSteps::settles(std::span<const Sample> inputs) {
  std::vector<EventReport> idle;
  const bool changed = events_.pass(EventPass::settle, inputs, slack_, idle);
  if (!changed) {
    idle_ = told(idle);
  }
  if (++passes_ > limit_) {
    refuse("at the start what holds does not settle: more than " + std::to_string(limit_) +
           " passes");
  }
  return changed;
}

void EventSteps::begin_instant(const CommunicationPoint& point, std::span<const double> states,
                               std::span<const double> state_slopes) {
  time_ = point.time;
  passes_ = 0;
  LeftLimits& left = left_.emplace();
  left.outputs = point.outputs;
  left.inputs = point.inputs;
  for (const std::size_t i : subsystems_.held_inputs()) {
    left.inputs[i].value = point.polynomials[i].c[0];
  }
  left.states.assign(states.begin(), states.end());
  if (states.empty()) {
    left.states.resize(subsystems_.n_states());
    subsystems_.gather_states(left.states);
  }
  left.state_slopes.assign(state_slopes.begin(), state_slopes.end());
  left.slopes_known = point.slopes_known;
  happened_.clear();
}

bool EventSteps::happens(std::span<const Sample> inputs) {
  return happens(EventPass::happen, inputs);
}

bool EventSteps::happens_after_fit(std::span<const Sample> inputs) {
  return happens(EventPass::fit, inputs);
}

bool EventSteps::happens(EventPass pass, std::span<const Sample> inputs) {
  if (!any() || !events_.pass(pass, inputs, slack_, happened_)) {
    return false;
  }
  if (++passes_ > limit_) {
    refuse("more than " + std::to_string(limit_) + " events at one instant");
  }
  return true;
}

void EventSteps::end_instant() {
  if (!any()) {
    return;
  }
  aims_ = 0;
  const auto key = [](const EventReport& e) { return std::tie(e.subsystem, e.what); };
  std::stable_sort(happened_.begin(), happened_.end(),
                   [&](const auto& a, const auto& b) { return a.subsystem < b.subsystem; });
  const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  happened_.erase(std::unique(happened_.begin(), happened_.end(), same), happened_.end());
  const bool foreseen = now_.next_time <= time_ + slack_;
  now_.next_time = events_.next_time();
  if (happened_.empty()) {
    return;
  }
  now_.missed = false;
  if (event_ < time_ - 2.5 * slack_) {
    ++now_.late;
  }
  watch_intervals(foreseen);
}

/// Instants come closer and closer, as those of a ball that comes to rest do: each interval is the
/// same fraction of the one before. Or they don't get away from each other; ticks may be as near as
/// their user wants them.
void EventSteps::watch_intervals(bool foreseen) {
  constexpr double similar = 1.5;
  constexpr int convincing = 2;
  const double interval = time_ - now_.time;
  const double ratio = interval / now_.interval;
  const bool alike =
      ratio < 1.0 && std::max(ratio, now_.ratio) < similar * std::min(ratio, now_.ratio);
  now_.alike = alike ? now_.alike + 1 : 0;
  now_.ratio = ratio;
  now_.interval = interval;
  now_.time = time_;
  const bool sums_up = interval <= slacks_that_are_none * slack_ && now_.alike >= convincing;
  if (!foreseen) {
    now_.in_a_row = interval <= share_that_is_none * now_.usual ? now_.in_a_row + 1 : 0;
  }
  if (sums_up || now_.in_a_row > limit_) {
    refuse("events accumulate: they come closer and closer, the last two after " +
           short_number(interval) + " s");
  }
}

void EventSteps::tell(StepReport& report) const {
  report.events = happened_;
  report.left = left_ ? &*left_ : nullptr;
}

void EventSteps::clear() {
  happened_.clear();
  left_.reset();
}

/// "subsystem 'ball' (gap < 0)", of all ranks' own subsystems among `what`, each once: the first
/// few. Collective.
std::string EventSteps::told(std::span<const EventReport> what) const {
  constexpr std::size_t enough = 300;
  std::map<std::size_t, std::vector<std::string_view>> of;
  for (const EventReport& report : what) {
    auto& texts = of[report.subsystem];
    if (std::find(texts.begin(), texts.end(), report.what) == texts.end()) {
      texts.push_back(report.what);
    }
  }
  std::string own;
  for (std::size_t k = 0; k < subsystems_.n_own() && own.size() < enough; ++k) {
    for (const std::string_view text : of[subsystems_.global(k)]) {
      own +=
          ", subsystem '" + subsystems_.own(k).description().name + "' (" + std::string(text) + ")";
    }
  }
  std::string all = joined_texts(subsystems_.comm(), own);
  if (all.empty()) return all;
  all.erase(0, 2);
  if (const std::size_t last = all.rfind(", subsystem '", enough);
      all.size() > enough && last != all.npos)
    all = all.substr(0, last) + " and others";
  return all;
}

void EventSteps::refuse(const std::string& how_many) const {
  std::ostringstream message;
  message.precision(12);
  message << "t = " << time_ << " s: " << how_many << ", " << told(happened_)
          << "; let a discrete variable hold what comes to rest or slides, or give conditions a "
             "hysteresis; -cosim_event_limit sets the number";
  throw SimulationError(message.str());
}

}  // namespace concord

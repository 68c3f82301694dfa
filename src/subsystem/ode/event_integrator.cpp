#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/method_choice.hpp"
#include "subsystem/ode/micro_steps.hpp"

namespace concord {

namespace {

constexpr int most_events = 10'000;  ///< in one macro-step

/// Any method, stopped at events.
///
/// State events are located by the method's root finding; time events end a micro-step; an input
/// that only events may change makes one at the macro-step's begin, as does an indicator whose sign
/// there differs from what it was (inputs may jump). Nothing is ever integrated twice, because a
/// model may not go back over an event: where the method is chosen automatically, a trial of the
/// other one goes on from where the first has come to.
class EventIntegrator final : public Integrator {
 public:
  EventIntegrator(RightHandSide& rhs, IntegratorKind kind, HybridModel& model,
                  EventHandling handling);

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override;
  double reached() const override { return reached_; }
  HandledEvents* handled_events() override { return &handled_; }
  void save() override;
  void restore() override;
  void io(Archive& archive) override {
    CONCORD_MEMBERS(archive, now_.above, now_.open, farthest_);
    if (archive.reading()) {
      continues_ = begun_ = false;
      handled_ = {};
    }
  }
  void pass_course(Archive& archive) override {
    CONCORD_MEMBERS(archive, now_.choice, micro_steps_);
    if (erk_) erk_->pass_course(archive);
    if (implicit_) implicit_->pass_course(archive);
  }

 private:
  struct Memory {
    MethodChoice choice;
    std::vector<char> above;  ///< signs of the indicators at the last point
    /// The micro-step that led to the communication point isn't completed yet: it may be taken
    /// back.
    bool open = false;
  };

  Roots roots();
  MicroSteps& method() { return now_.choice.other() ? *implicit_ : *erk_; }
  bool run(double h, History history);
  bool run_to(double end);
  bool micro_step(double end, bool& event);
  bool handle_event();
  bool begin_at_events();
  bool run_between_events(double h);
  void note(std::string what);
  bool complete(bool& event);
  bool complete_last_step();
  bool evaluate_indicators();
  bool note_changed_signs();
  void note_signs();
  void take_over();
  double next_time_event() const;
  double rounding_of(double time) const;

  HybridModel& model_;
  EventHandling handling_;
  std::unique_ptr<MicroSteps> erk_, implicit_;  ///< one of them where the settings choose it
  Memory now_, saved_;
  std::vector<double> x_, z_;  ///< scratch: states and indicators where the method stands
  double h_ = 0.0;
  double reached_ = 0.0;
  HandledEvents handled_;
  bool continues_ = false;  ///< nothing has happened since the method's last micro-step
  bool begun_ = false;      ///< a method was
  double farthest_ = 0.0;   ///< |t| so far, which times are rounded by; never rolled back
  std::string reason_;
};

EventIntegrator::EventIntegrator(RightHandSide& rhs, IntegratorKind kind, HybridModel& model,
                                 EventHandling handling)
    : Integrator(rhs),
      model_(model),
      handling_(handling),
      x_(rhs.state_count()),
      z_(model.indicator_count()) {
  const bool any = !x_.empty();
  const bool automatic = any && kind == IntegratorKind::automatic;
  if (any && kind == IntegratorKind::cvode_adams)
    implicit_ = make_adams_micro_steps(rhs, roots());
  else if (any && kind == IntegratorKind::dirk)
    implicit_ = make_dirk_micro_steps(rhs, roots());
  else if (automatic || (any && kind == IntegratorKind::cvode_bdf))
    implicit_ = make_bdf_micro_steps(rhs, roots());
  if (automatic || !implicit_) erk_ = make_erk_micro_steps(rhs, roots());
  now_.choice = MethodChoice(automatic, !erk_);
}

Roots EventIntegrator::roots() {
  const bool stops = handling_ != EventHandling::located;
  return {stops ? z_.size() : 0,
          [this](double tau, std::span<const double> x, std::span<double> z) {
            return rhs_.at(
                tau, [&](double t, std::span<const double> u) { model_.indicators(t, x, u, z); });
          }};
}

bool EventIntegrator::evaluate_indicators() {
  return rhs_.at(reached_, [&](double t, std::span<const double> u) {
    model_.indicators(t, x_, u, z_);
  }) == RightHandSide::ok;
}

void EventIntegrator::note_signs() {
  now_.above.resize(z_.size());
  for (std::size_t i = 0; i < z_.size(); ++i) now_.above[i] = z_[i] > 0.0 ? 1 : 0;
}

bool EventIntegrator::note_changed_signs() {
  bool any = false;
  for (std::size_t i = 0; i < now_.above.size(); ++i) {
    if ((z_[i] > 0.0) == (now_.above[i] != 0)) continue;
    note("state event " + std::to_string(i));
    any = true;
  }
  return any;
}

void EventIntegrator::note(std::string what) {
  handled_.first = std::min(handled_.first, reached_);
  handled_.what.push_back({0, std::move(what)});
}

/// Events at the reached point, and where the indicators stand after them.
bool EventIntegrator::handle_event() {
  continues_ = false;
  const int flag = rhs_.at(
      reached_, [&](double t, std::span<const double> u) { model_.handle_event(t, x_, u); });
  rhs_.forget();
  if (flag != RightHandSide::ok || !evaluate_indicators()) return false;
  note_signs();
  return true;
}

Outcome EventIntegrator::integrate(double h, History history, std::span<const double> x_begin,
                                   std::span<double> x_end) {
  std::copy(x_begin.begin(), x_begin.end(), x_.begin());
  h_ = h;
  reached_ = 0.0;
  handled_ = {};
  reason_.clear();
  const bool good = run(h, history);
  continues_ = continues_ && good;
  rhs_.rethrow();
  if (!good) return Outcome::failed;
  std::copy(x_.begin(), x_.end(), x_end.begin());
  return Outcome::ok;
}

bool EventIntegrator::complete(bool& event) {
  if (!model_.wants_completed_steps()) return true;
  if (begun_) method().leave_behind();
  return rhs_.at(reached_, [&](double t, std::span<const double> u) {
    event = model_.completed_step(t, x_, u) || event;
  }) == RightHandSide::ok;
}

/// The one before the communication point, now that it is accepted.
bool EventIntegrator::complete_last_step() {
  if (!std::exchange(now_.open, false)) return true;
  bool event = false;
  return complete(event) && (!event || handle_event());
}

bool EventIntegrator::run(double h, History history) {
  farthest_ = std::max({farthest_, std::abs(rhs_.begin()), std::abs(rhs_.begin() + h)});
  if (!complete_last_step()) return false;
  const bool located = handling_ == EventHandling::located;
  if (located) rhs_.path_begins(x_);
  if (!located && !begin_at_events()) return false;
  now_.choice.begin_macro_step(rhs_.evaluations());
  method().begin(h, continues_ ? history : History::discard, x_);
  continues_ = begun_ = true;
  if (!run_between_events(h)) return false;
  if (now_.choice.end_macro_step(rhs_.evaluations(), h)) continues_ = false;
  return true;
}

/// What inputs, which may have jumped, make happen where the macro-step begins.
bool EventIntegrator::begin_at_events() {
  if (!evaluate_indicators()) return false;
  bool input_event = false;
  if (rhs_.at(0.0, [&](double, std::span<const double> u) {
        input_event = model_.input_event(u);
      }) != RightHandSide::ok)
    return false;
  if (now_.above.empty()) note_signs();
  if (input_event) note("inputs");
  return !(note_changed_signs() || input_event) || handle_event();
}

bool EventIntegrator::run_between_events(double h) {
  for (int events = 0; reached_ < h; ++events) {
    if (events > most_events) {
      reason_ = "more than " + std::to_string(most_events) +
                " events in one macro-step (chattering); look at the model's conditions";
      return false;
    }
    const double next = next_time_event();
    const double event = next - rhs_.begin();
    const double slack = rounding_of(next);
    const double end = event < h - slack ? std::max(event, reached_) : h;
    if (!run_to(end)) return false;
    const bool left_to_others = handling_ == EventHandling::told && reached_ >= h;
    if (!(reached_ >= event - slack) || left_to_others) continue;
    note("time event");
    if (!handle_event()) return false;
  }
  return true;
}

/// That is handled here.
double EventIntegrator::next_time_event() const {
  return handling_ == EventHandling::located ? std::numeric_limits<double>::infinity()
                                             : model_.next_time_event();
}

/// What rounding makes of a time event that falls on the macro-step's end.
double EventIntegrator::rounding_of(double time) const {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  return std::isfinite(time) ? 8.0 * eps * std::max(std::abs(time), farthest_) : 0.0;
}

/// To `end` or to the first state or step event, which is handled.
bool EventIntegrator::run_to(double end) {
  constexpr double nothing = 1e-14;
  if (end - reached_ <= nothing * h_) {
    reached_ = std::max(end, reached_);
    return true;
  }
  if (!continues_) method().restart(reached_, x_);
  continues_ = true;
  while (reached_ < end) {
    bool event = false;
    if (!micro_step(end, event)) return false;
    if (event) return handle_event();
  }
  if (handling_ == EventHandling::located) return true;
  if (!evaluate_indicators()) return false;
  note_signs();
  return true;
}

bool EventIntegrator::micro_step(double end, bool& event) {
  const auto how = method().step(end, reached_, x_);
  if (how == MicroSteps::End::failed) {
    if (!now_.choice.give_up(rhs_.evaluations(), reached_)) return false;
    take_over();
    return true;
  }
  ++micro_steps_;
  rhs_.path_reaches(reached_, x_);
  const bool root = how == MicroSteps::End::root;
  if (root && !evaluate_indicators()) return false;
  if (root) note_changed_signs();
  now_.open = !root && (reached_ >= h_ || !model_.takes_back_completed_steps());
  bool completed_to_event = false;
  if (!now_.open && !complete(completed_to_event)) return false;
  if (completed_to_event) note("step event");
  event = root || completed_to_event;
  if (now_.choice.reconsider(rhs_.evaluations(), reached_)) take_over();
  return true;
}

/// The method that has just been chosen goes on from here.
void EventIntegrator::take_over() {
  method().begin(h_, History::discard, x_);
  method().restart(reached_, x_);
}

void EventIntegrator::save() {
  model_.save();
  saved_ = now_;
  continues_ = false;
  if (erk_) erk_->save();
  if (implicit_) implicit_->save();
}

void EventIntegrator::restore() {
  model_.restore();
  rhs_.forget();
  now_ = saved_;
  continues_ = false;
  if (erk_) erk_->restore();
  if (implicit_) implicit_->restore();
}

std::string EventIntegrator::failure() const {
  if (rhs_.last_failed()) return rhs_.model().failure();
  if (!reason_.empty()) return integration_failure("events", rhs_, reason_, reached_);
  return (now_.choice.other() ? implicit_ : erk_)->failure();
}

}  // namespace

std::unique_ptr<Integrator> make_event_integrator(RightHandSide& rhs, IntegratorKind kind,
                                                  HybridModel& model, EventHandling handling) {
  return std::make_unique<EventIntegrator>(rhs, kind, model, handling);
}

}  // namespace concord

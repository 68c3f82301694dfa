#include "subsystem/delay/delay_subsystem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/hold.hpp"
#include "subsystem/delay/signal_past.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

class DelaySubsystem : public Subsystem {
 public:
  explicit DelaySubsystem(const DelayDescription& delay)
      : Subsystem(describe_delay(delay)),
        delay_(delay.delay),
        held_(delay.source.kind == SignalKind::held) {}

  void start(const MacroStep& first, double stop) override {
    begin_ = first.begin;
    farthest_ = std::max(std::abs(first.begin), std::abs(stop));
    now_ = {};
    fresh_from_ = 0.0;
    arrived_ = -std::numeric_limits<double>::infinity();
    left_ = 0.0;
    arrives_ = delay_;
    kept_from_ = std::numeric_limits<double>::infinity();
    past_.start(0.0);
    initializing_ = true;
  }

  bool initializing() const override { return initializing_; }

  Outcome end_initialization(std::span<const Sample> inputs) override {
    if (!initializing_) return Outcome::ok;
    past_.start(inputs[0].value);
    initializing_ = false;
    return Outcome::ok;
  }

  /// u need not continue what it was.
  void enter(const SmoothInterval& /*interval*/) override {
    fresh_from_ = now_.point.sum;
    past_.end_by_event();
  }

  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity /*continuity*/, Wanted /*wanted*/,
                  std::span<Sample> outputs) override {
    ++counters_.advances;
    const double begin = now_.point.sum, h = step.size();
    past_.forget(std::min(begin, kept_from_) - delay_ - rounding());
    past_.append(begin, h, inputs[0], begin == fresh_from_);
    now_ = {now_.point.after(h), inputs[0].at(h)};
    outputs[0] = put_out(now_.point.sum);
    return Outcome::ok;
  }

  Outcome point_outputs(std::span<const Sample> inputs, Wanted /*wanted*/,
                        std::span<Sample> outputs) override {
    now_.input = inputs[0];
    outputs[0] = initializing_ ? Sample{inputs[0].value, 0.0} : put_out(now_.point.sum);
    return Outcome::ok;
  }

  Outcome output_curvatures(std::span<const Sample> /*inputs*/, std::span<double> result) override {
    result[0] = put_out(now_.point.sum).curvature;
    return Outcome::ok;
  }

  bool retraces() const override { return true; }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> /*inputs*/,
                  std::span<double> /*states*/, std::span<Sample> outputs) override {
    outputs[0] = put_out(step.end - begin_);
    return Outcome::ok;
  }

  std::span<const double> states() const override { return {}; }
  Outcome state_derivatives(std::span<const Sample> /*inputs*/,
                            std::span<double> /*result*/) override {
    return Outcome::ok;
  }
  Outcome derivatives_at(const StatePoint& /*point*/, std::span<double> /*result*/) override {
    return Outcome::ok;
  }

  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override {
    now_.input = inputs[0];
    const Sample y = put_out(now_.point.sum);
    result.g = {y.value};
    result.g_t = {y.derivative};
    result.g_u.assign(inputs.size(), 0.0);
    result.g_late.assign(inputs.size(), 1.0);
    result.late = delay_;
    return Outcome::ok;
  }

  /// With the polynomial that leads to the point's inputs, where T is smaller than the macro-step.
  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override {
    const double tau = point.h - delay_;
    const Hold& hold = point.input_curvatures ? Hold::quintic : Hold::hermite;
    outputs[0] = tau > rounding()
                     ? hold.of_guess(now_.input, point.inputs[0], point.h, true).at(tau)
                     : put_out(now_.point.after(point.h).sum);
    return Outcome::ok;
  }
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override {
    Sample output;
    const Outcome outcome = outputs_at(point, {&output, 1});
    result[0] = output.curvature;
    return outcome;
  }

  /// Where its input breaks its output does, so much later. Of what follows an event the value is
  /// known; slopes and curvatures show in the macro-step behind (next_event).
  double next_time_event() const override {
    const bool breaks =
        fresh_from_ == now_.point.sum && !initializing_ && past_.jumps_to(now_.input.value);
    const double next = breaks ? now_.point.sum : std::numeric_limits<double>::infinity();
    return time_of(std::min(past_.next_break(arrived_).value_or(next), next));
  }

  double next_event(std::span<const Sample> /*inputs*/) override {
    const auto next = past_.next_break(arrived_);
    return next ? time_of(*next) : std::numeric_limits<double>::infinity();
  }

  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, EventChange& change,
                 std::vector<Happening>& what) override {
    change = EventChange::nothing;
    now_.input = inputs[0];
    if (pass == EventPass::settle) return Outcome::ok;
    const double arriving = before(now_.point.sum) + std::max(slack, rounding());
    for (auto next = past_.next_break(arrived_); next && *next <= arriving;
         next = past_.next_break(*next)) {
      left_ = *next;
      arrives_ = now_.point.sum;
      change = EventChange::values;
    }
    if (change == EventChange::values)
      what.push_back({0, "what was " + short_number(delay_) + " s before"});
    arrived_ = std::max(arrived_, arriving);
    return Outcome::ok;
  }

  void save() override {
    saved_ = now_;
    kept_from_ = now_.point.sum;
  }
  void restore() override { now_ = saved_; }

  bool io(Archive& archive) override {
    CONCORD_MEMBERS(archive, begin_, past_, now_, arrived_, left_, arrives_, saved_, fresh_from_,
                    kept_from_, initializing_, counters_);
    return true;
  }
  int memory_version() const override { return 4; }
  /// What was put in before arrives in this run.
  bool start_from(double t, std::span<const double> /*x*/,
                  std::span<const std::byte> memory) override {
    if (t != begin_) {
      failure_ = "has a past up to t = " + short_number(t) + " s and can only start there";
      return false;
    }
    Archive archive(std::vector(memory.begin(), memory.end()));
    CONCORD_MEMBERS(archive, begin_, past_, now_, arrived_, left_, arrives_);
    saved_ = now_;
    fresh_from_ = now_.point.sum;
    initializing_ = false;
    return true;
  }

 private:
  /// Where it stands, and u there.
  struct Now {
    Elapsed point;
    Sample input;
  };

  /// What times may be wrong by, s.
  double rounding() const {
    return 16.0 * std::numeric_limits<double>::epsilon() * (farthest_ + delay_);
  }

  /// At which a break arrives, s.
  double time_of(double point) const { return begin_ + (point + delay_); }

  /// T before a point. Since the last break has arrived time counts from there: when that was is
  /// rounded, and what is steep behind it would be wrong by that.
  double before(double point) const { return left_ + (point - arrives_); }

  Sample put_out(double point) const {
    const Sample y = past_.at(before(point), arrived_, rounding());
    return held_ ? Sample{y.value, 0.0} : y;
  }

  double delay_;
  bool held_;
  double begin_ = 0.0;     ///< of the experiment, s
  double farthest_ = 0.0;  ///< largest magnitude of a time of the experiment, s
  SignalPast past_;
  Now now_, saved_;
  double fresh_from_ = 0.0;            ///< elapsed at the last event
  double kept_from_ = 0.0;             ///< elapsed where `restore` leads to
  double arrived_ = 0.0;               ///< breaks up to this point have arrived
  double left_ = 0.0, arrives_ = 0.0;  ///< of the last break
  bool initializing_ = false;
};

}  // namespace

SubsystemDescription describe_delay(const DelayDescription& delay) {
  SubsystemDescription description;
  description.name = delay.name;
  description.kind = "delay";
  description.stands_for = "the delay of " + delay.from + " -> " + delay.to;
  const OutputVariable& source = delay.source;
  description.inputs = {{delay_input_name, source.unit, std::nullopt, source.nominal, source.kind}};
  description.outputs = {{delay_output_name, source.unit, source.nominal, source.kind}};
  auto& has = description.capabilities;
  has.polynomial_inputs = has.output_derivatives = has.point_outputs = has.rollback = true;
  description.events = true;
  has.states = has.state_derivatives = has.linearization = has.state_outputs = true;
  has.output_curvatures = true;
  description.remarks = {delay.from + " -> " + delay.to + ", " + short_number(delay.delay) +
                         " s later"};
  return description;
}

std::unique_ptr<Subsystem> make_delay(const DelayDescription& delay) {
  return std::make_unique<DelaySubsystem>(delay);
}

}  // namespace concord

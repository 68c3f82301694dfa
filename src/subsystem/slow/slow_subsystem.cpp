#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "signal/history.hpp"
#include "subsystem/decorator.hpp"
#include "subsystem/slow/window_inputs.hpp"
#include "subsystem/slow_steps.hpp"

namespace concord {
namespace {

/// What it answers for within a window is no answer to its inputs. Its outputs jump where windows
/// end, by what extrapolating them has missed, which is no event of a black box.
SubsystemDescription slow_description(SubsystemDescription description) {
  auto& has = description.capabilities;
  has.linearization = has.equations = has.state_outputs = has.output_curvatures = false;
  has.state_derivatives = false;
  description.kind = "slow";
  return description;
}

class SlowSubsystem final : public SubsystemDecorator<SlowSubsystem> {
 public:
  SlowSubsystem(std::unique_ptr<Subsystem> inner, const SlowSteps& slow)
      : SubsystemDecorator(std::move(inner), slow_description(inner->description())),
        macro_steps_(slow.macro_steps),
        all_outputs_(description_.outputs.size()),
        now_(description_.inputs.size(), description_.outputs.size(), slow) {
    std::iota(all_outputs_.begin(), all_outputs_.end(), std::size_t{0});
  }

  void start(const MacroStep& first, double stop) override {
    stop_ = stop;
    now_.begin_anew();
    SubsystemDecorator::start(first, stop);
    if (description_.events) {
      throw InputError(
          "turns out to have events, which steps of its own (step:) cannot have; "
          "leave step: out");
    }
  }
  void enter(const SmoothInterval& interval) override {
    if (interval.from != interval_.from) now_.begin_anew();
    interval_ = interval;
    SubsystemDecorator::enter(interval);
  }

  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override {
    if (now_.inputs.macro_steps() == 0 && begin_window(step.begin, inputs) != Outcome::ok) {
      return Outcome::failed;
    }
    now_.inputs.add(step.size(), inputs);
    const bool over = now_.inputs.macro_steps() >= now_.length || reaches_end(step.end);
    return over ? advance_over_window(step.end, continuity, wanted, outputs)
                : put_out_within(outputs);
  }

  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    if (now_.inputs.macro_steps() > 0) return put_out_within(outputs);
    const Outcome outcome = SubsystemDecorator::point_outputs(inputs, wanted, outputs);
    if (!description_.capabilities.point_outputs) {
      now_.ends.assign(outputs.begin(), outputs.end());
    }
    return outcome;
  }

  /// Of a window, where it has ended.
  std::span<const double> integration_errors() const override {
    return now_.inputs.macro_steps() == 0 ? SubsystemDecorator::integration_errors()
                                          : std::span<const double>();
  }

  /// What follows is a new start.
  Outcome set_parameter(std::size_t parameter, double value) override {
    if (now_.inputs.macro_steps() > 0) {
      failure_ =
          "is within a step of its own (step:), where no parameter can be set; set it before "
          "the start, or leave step: out";
      return Outcome::failed;
    }
    now_.begin_anew();
    return SubsystemDecorator::set_parameter(parameter, value);
  }

  void save() override {
    saved_ = now_;
    SubsystemDecorator::save();
  }
  void restore() override {
    now_ = *saved_;
    SubsystemDecorator::restore();
  }

  bool io(Archive& archive) override {
    const bool passed = SubsystemDecorator::io(archive);
    CONCORD_MEMBERS(archive, now_, interval_, stop_);
    return passed;
  }

 private:
  struct Memory {
    Memory(std::size_t n_inputs, std::size_t n_outputs, const SlowSteps& slow)
        : inputs(n_inputs),
          past(n_outputs, slow.hold_order, slow.extrapolation),
          ends(n_outputs),
          outputs(n_outputs) {}

    /// Neither inputs nor outputs need continue what they were.
    void begin_anew() {
      inputs.begin_anew();
      length = 0;
    }

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, inputs, past, ends, outputs, begin, length, last_size);
    }

    WindowInputs inputs;              ///< of the window that is passed
    SignalHistory past;               ///< of outputs, at the ends of windows
    std::vector<Sample> ends;         ///< outputs at the end of the last window
    std::vector<Polynomial> outputs;  ///< within the window, of tau from its begin
    double begin = 0.0;               ///< of the window, s
    int length = 0;                   ///< in macro-steps; 0: none since the start or an event
    double last_size = 0.0;           ///< of the last window, s
  };

  Outcome begin_window(double time, std::span<const Polynomial> inputs) {
    now_.begin = time;
    if (now_.length == 0) {
      if (begin_past(inputs) != Outcome::ok) return Outcome::failed;
      now_.length = 1;
    } else {
      now_.past.push(now_.last_size, now_.ends);
      const int most = now_.past.known() > 2 ? 2 * now_.length : 1;
      now_.length = std::min(most, macro_steps_);
    }
    now_.past.extrapolate(all_outputs_, now_.outputs);
    return Outcome::ok;
  }

  /// Outputs for what the inputs are here, where they can be told: what they were asked for before
  /// may have been a trial.
  Outcome begin_past(std::span<const Polynomial> inputs) {
    const Capabilities& has = description_.capabilities;
    if (!has.point_outputs) {
      now_.past.start(now_.ends, false);
      return Outcome::ok;
    }
    std::vector<Sample> here(inputs.size());
    std::transform(inputs.begin(), inputs.end(), here.begin(),
                   [](const Polynomial& input) { return input.at(0.0); });
    const bool slopes = has.output_derivatives;
    const Outcome outcome = SubsystemDecorator::point_outputs(
        here, slopes ? Wanted::values_and_derivatives : Wanted::values, now_.ends);
    now_.past.start(now_.ends, slopes);
    return outcome;
  }

  /// Of the run, or of what inputs are smooth in.
  bool reaches_end(double time) const {
    const double end = std::min(stop_, interval_.until);
    const double rounding =
        8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(time), std::abs(end));
    return time >= end - rounding;
  }

  Outcome advance_over_window(double end, InputContinuity continuity, Wanted wanted,
                              std::span<Sample> outputs) {
    const double size = now_.inputs.size();
    const Outcome outcome = SubsystemDecorator::advance(
        {now_.begin, end, size}, now_.inputs.over_window(), continuity, wanted, outputs);
    now_.last_size = size;
    now_.inputs.end_window();
    now_.ends.assign(outputs.begin(), outputs.end());
    return outcome;
  }

  Outcome put_out_within(std::span<Sample> outputs) const {
    const double tau = now_.inputs.size();
    std::transform(now_.outputs.begin(), now_.outputs.end(), outputs.begin(),
                   [tau](const Polynomial& output) { return output.at(tau); });
    return Outcome::ok;
  }

  int macro_steps_;
  std::vector<std::size_t> all_outputs_;
  double stop_ = 0.0;
  SmoothInterval interval_;
  Memory now_;
  std::optional<Memory> saved_;
};

}  // namespace

std::unique_ptr<Subsystem> in_slow_steps(std::unique_ptr<Subsystem> inner, const SlowSteps& slow) {
  return std::make_unique<SlowSubsystem>(std::move(inner), slow);
}

}  // namespace concord

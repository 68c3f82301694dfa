#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "subsystem/subsystem.hpp"

namespace concord {

/// A subsystem around another one, to which it passes every call on; whoever derives from it
/// overrides the calls that it changes.
///
/// `Self` may hide `call`, which makes all calls but those that only look at something, and `fed`,
/// all inputs of the inner subsystem where its own are `inputs`.
template <class Self>
class SubsystemDecorator : public Subsystem {
 public:
  void start(const MacroStep& first, double stop) override {
    pass("start", [&] { inner_->start(first, stop); });
  }
  void note_use(std::span<const char> fed, std::span<const char> looked_at) override {
    pass("note_use", [&] { inner_->note_use(fed, looked_at); });
  }
  bool initializing() const override { return inner_->initializing(); }
  Outcome end_initialization(std::span<const Sample> inputs) override {
    return pass("end_initialization",
                [&] { return inner_->end_initialization(self().fed(inputs)); });
  }
  void enter(const SmoothInterval& interval) override {
    pass("enter", [&] { inner_->enter(interval); });
  }
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override {
    return pass("advance",
                [&] { return inner_->advance(step, inputs, continuity, wanted, outputs); });
  }
  Outcome follow(const MacroStep& step, std::span<const Polynomial> inputs,
                 const IntegratedWay& way) override {
    return pass("follow", [&] { return inner_->follow(step, inputs, way); });
  }
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    return pass("point_outputs",
                [&] { return inner_->point_outputs(self().fed(inputs), wanted, outputs); });
  }
  Outcome output_curvatures(std::span<const Sample> inputs, std::span<double> result) override {
    return pass("output_curvatures",
                [&] { return inner_->output_curvatures(self().fed(inputs), result); });
  }
  std::span<const double> states() const override { return inner_->states(); }
  std::span<const double> integration_errors() const override {
    return inner_->integration_errors();
  }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override {
    return pass("state_derivatives",
                [&] { return inner_->state_derivatives(self().fed(inputs), result); });
  }
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override {
    return pass("linearize", [&] { return inner_->linearize(self().fed(inputs), result); });
  }
  bool keeps(const Linearization& known, std::span<const Sample> inputs) override {
    return pass("keeps", [&] { return inner_->keeps(known, self().fed(inputs)); });
  }
  Outcome derivatives_at(const StatePoint& point, std::span<double> result) override {
    return pass("derivatives_at", [&] { return inner_->derivatives_at(point, result); });
  }
  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override {
    return pass("outputs_at", [&] { return inner_->outputs_at(point, outputs); });
  }
  Outcome linearize_at(const StatePoint& point, Linearization& result) override {
    return pass("linearize_at", [&] { return inner_->linearize_at(point, result); });
  }
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override {
    return pass("output_curvatures_at",
                [&] { return inner_->output_curvatures_at(point, result); });
  }
  double next_time_event() const override { return inner_->next_time_event(); }
  double next_event(std::span<const Sample> inputs) override {
    return pass("next_event", [&] { return inner_->next_event(self().fed(inputs)); });
  }
  Outcome happen(EventPass happens, std::span<const Sample> inputs, double slack,
                 EventChange& change, std::vector<Happening>& what) override {
    return pass("happen",
                [&] { return inner_->happen(happens, self().fed(inputs), slack, change, what); });
  }
  Outcome set_parameter(std::size_t parameter, double value) override {
    return pass("set_parameter", [&] { return inner_->set_parameter(parameter, value); });
  }
  std::optional<double> parameter(std::size_t parameter) override {
    return pass("parameter", [&] { return inner_->parameter(parameter); });
  }
  TextPorts* texts() override { return inner_->texts(); }
  bool retraces() const override { return inner_->retraces(); }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                  std::span<double> states, std::span<Sample> outputs) override {
    return pass("retrace", [&] { return inner_->retrace(step, inputs, states, outputs); });
  }
  void save() override {
    pass("save", [&] { inner_->save(); });
  }
  void restore() override {
    pass("restore", [&] { inner_->restore(); });
  }
  bool io(Archive& archive) override {
    archive.enter(*inner_);
    return pass("io", [&] { return inner_->io(archive); });
  }
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override {
    return pass("start_from", [&] { return inner_->start_from(t, x, memory); });
  }
  OdeModel* equations() override { return inner_->equations(); }
  bool complete_step(double t, std::span<const double> x, std::span<const double> u) override {
    return pass("complete_step", [&] { return inner_->complete_step(t, x, u); });
  }

 protected:
  SubsystemDecorator(std::unique_ptr<Subsystem> inner, SubsystemDescription description)
      : Subsystem(std::move(description)), inner_(std::move(inner)) {}

  template <class Work>
  auto call(const char* /*function*/, const Work& work) {
    return answered(work);
  }
  std::span<const Sample> fed(std::span<const Sample> inputs) { return inputs; }

  /// The inner subsystem's answer; where it is a failure, its reason is taken over.
  template <class Work>
  auto answered(const Work& work) {
    using Answer = decltype(work());
    if constexpr (std::is_same_v<Answer, Outcome>) {
      const Outcome outcome = work();
      if (outcome == Outcome::failed) failure_ = inner_->failure();
      return outcome;
    } else if constexpr (std::is_same_v<Answer, bool>) {
      const bool done = work();
      if (!done) failure_ = inner_->failure();
      return done;
    } else {
      return work();
    }
  }

  Subsystem& inner() { return *inner_; }
  const Subsystem& inner() const { return *inner_; }
  void destroy_inner() { inner_.reset(); }

 private:
  template <class Work>
  auto pass(const char* function, const Work& work) {
    using Answer = decltype(work());
    if constexpr (std::is_void_v<Answer>) {
      self().call(function, work);
      follow();
    } else {
      const Answer answer = self().call(function, work);
      follow();
      return answer;
    }
  }
  /// What a call may have changed of what is known of the inner subsystem.
  void follow() {
    counters_ = inner_->counters();
    description_.events = inner_->description().events;
  }
  Self& self() { return static_cast<Self&>(*this); }

  std::unique_ptr<Subsystem> inner_;
};

}  // namespace concord

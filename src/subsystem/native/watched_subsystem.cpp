#include "subsystem/native/watched_subsystem.hpp"

#include <type_traits>

#include "subsystem/native/thrown_in_words.hpp"

namespace concord {
namespace {

SubsystemDescription without_withheld(SubsystemDescription description,
                                      const SubsystemSettings& settings) {
  auto& has = description.capabilities;
  has.rollback = has.rollback && settings.rollback;
  has.linearization = has.linearization && settings.linearization;
  has.state_derivatives = has.state_derivatives && settings.state_derivatives;
  has.state_outputs = has.state_outputs && settings.state_derivatives;
  return description;
}

class WatchedSubsystem final : public Subsystem {
  // Before its uses: what it returns is deduced.
  template <class Work>
  auto call(const char* function, const Work& work) {
    const ForeignCall running(place_, function);
    try {
      if constexpr (std::is_same_v<decltype(work()), Outcome>) {
        const Outcome outcome = work();
        if (outcome == Outcome::failed) failure_ = inner_->failure();
        return outcome;
      } else {
        return work();
      }
    } catch (const RecoverableFailure& failure) {
      failure_ = failure.what();
      if constexpr (std::is_same_v<decltype(work()), Outcome>) return Outcome::failed;
      throw;
    } catch (const EndOfSimulation&) {
      throw;
    } catch (...) {
      throw_in_words(place_, function);
    }
  }

 public:
  WatchedSubsystem(std::unique_ptr<Subsystem> inner, SubsystemDescription description,
                   const SubsystemSettings& settings)
      : Subsystem(without_withheld(std::move(description), settings)), inner_(std::move(inner)) {
    place_.what = "the C++ code";
    place_.subsystem = description_.name.c_str();
    watch_foreign_code();
  }

  ~WatchedSubsystem() override {
    const ForeignCall running(place_, "the destructor");
    inner_.reset();
  }

  void start(const MacroStep& first, double stop) override {
    place_.time = first.begin;
    call("start", [&] { inner_->start(first, stop); });
  }
  void note_use(std::span<const char> fed, std::span<const char> looked_at) override {
    call("note_use", [&] { inner_->note_use(fed, looked_at); });
  }
  bool initializing() const override { return inner_->initializing(); }
  Outcome end_initialization(std::span<const Sample> inputs) override {
    return call("end_initialization", [&] { return inner_->end_initialization(inputs); });
  }
  void enter(const SmoothInterval& interval) override {
    call("enter", [&] { inner_->enter(interval); });
  }
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override {
    place_.time = step.begin;
    const Outcome outcome =
        call("advance", [&] { return inner_->advance(step, inputs, continuity, wanted, outputs); });
    place_.time = step.end;
    counters_ = inner_->counters();
    return outcome;
  }
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    return call("point_outputs", [&] { return inner_->point_outputs(inputs, wanted, outputs); });
  }
  Outcome output_curvatures(std::span<const Sample> inputs, std::span<double> result) override {
    return call("output_curvatures", [&] { return inner_->output_curvatures(inputs, result); });
  }
  std::span<const double> states() const override { return inner_->states(); }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override {
    return call("state_derivatives", [&] { return inner_->state_derivatives(inputs, result); });
  }
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override {
    return call("linearize", [&] { return inner_->linearize(inputs, result); });
  }
  bool keeps(const Linearization& known, std::span<const Sample> inputs) override {
    return call("keeps", [&] { return inner_->keeps(known, inputs); });
  }
  Outcome derivatives_at(const StatePoint& point, std::span<double> result) override {
    return call("derivatives_at", [&] { return inner_->derivatives_at(point, result); });
  }
  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override {
    return call("outputs_at", [&] { return inner_->outputs_at(point, outputs); });
  }
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override {
    return call("output_curvatures_at",
                [&] { return inner_->output_curvatures_at(point, result); });
  }
  bool retraces() const override { return inner_->retraces(); }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                  std::span<double> states, std::span<Sample> outputs) override {
    return call("retrace", [&] { return inner_->retrace(step, inputs, states, outputs); });
  }
  double next_time_event() const override { return inner_->next_time_event(); }
  double next_event(std::span<const Sample> inputs) override {
    return call("next_event", [&] { return inner_->next_event(inputs); });
  }
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, bool& changed,
                 std::vector<Happening>& what) override {
    return call("happen", [&] { return inner_->happen(pass, inputs, slack, changed, what); });
  }
  Outcome set_parameter(std::size_t parameter, double value) override {
    return call("set_parameter", [&] { return inner_->set_parameter(parameter, value); });
  }
  void save() override {
    call("save", [&] { inner_->save(); });
  }
  void restore() override {
    call("restore", [&] { inner_->restore(); });
  }
  bool io(Archive& archive) override {
    archive.enter(*inner_);
    return call("io", [&] { return inner_->io(archive); });
  }
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override {
    return call("start_from", [&] { return inner_->start_from(t, x, memory); });
  }
  OdeModel* equations() override { return inner_->equations(); }
  bool complete_step(double t, std::span<const double> x, std::span<const double> u) override {
    return call("complete_step", [&] { return inner_->complete_step(t, x, u); });
  }

 private:
  ForeignPlace place_;
  std::unique_ptr<Subsystem> inner_;
};

}  // namespace

std::unique_ptr<Subsystem> watched(std::unique_ptr<Subsystem> subsystem,
                                   SubsystemDescription description,
                                   const SubsystemSettings& settings) {
  return std::make_unique<WatchedSubsystem>(std::move(subsystem), std::move(description), settings);
}

}  // namespace concord

#include "subsystem/native/watched_subsystem.hpp"

#include <type_traits>

#include "subsystem/decorator.hpp"
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

class WatchedSubsystem final : public SubsystemDecorator<WatchedSubsystem> {
 public:
  WatchedSubsystem(std::unique_ptr<Subsystem> inner, const char* what,
                   SubsystemDescription description, const SubsystemSettings& settings)
      : SubsystemDecorator(std::move(inner), without_withheld(std::move(description), settings)) {
    place_.what = what;
    place_.subsystem = description_.name.c_str();
    watch_foreign_code();
  }

  ~WatchedSubsystem() override {
    const ForeignCall running(place_, "the destructor");
    destroy_inner();
  }

  void start(const MacroStep& first, double stop) override {
    place_.time = first.begin;
    SubsystemDecorator::start(first, stop);
  }
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override {
    place_.time = step.begin;
    const Outcome outcome = SubsystemDecorator::advance(step, inputs, continuity, wanted, outputs);
    place_.time = step.end;
    return outcome;
  }

  template <class Work>
  auto call(const char* function, const Work& work) {
    const ForeignCall running(place_, function);
    try {
      return answered(work);
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

 private:
  ForeignPlace place_;
};

}  // namespace

std::unique_ptr<Subsystem> watched(std::unique_ptr<Subsystem> subsystem, const char* what,
                                   SubsystemDescription description,
                                   const SubsystemSettings& settings) {
  return std::make_unique<WatchedSubsystem>(std::move(subsystem), what, std::move(description),
                                            settings);
}

}  // namespace concord

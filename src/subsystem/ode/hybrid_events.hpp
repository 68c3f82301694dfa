#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "subsystem/event_model.hpp"
#include "subsystem/ode/hybrid_model.hpp"

namespace concord {

/// The events of a model that handles them itself, at the instants that the network takes part in.
///
/// An indicator has changed its sign where it has right behind the instant: only what has certainly
/// happened does the model see, and it sees it there. Nothing of that way is left in the states.
class HybridEvents final : public EventModel {
 public:
  /// `model` must outlive it.
  explicit HybridEvents(HybridModel& model)
      : model_(model), z_(model.indicator_count()), above_(model.indicator_count()) {}

  /// Macro-steps can be taken back: from here on state events come at the ends of macro-steps only.
  void locate(bool located = true) { located_ = located; }
  bool located() const { return located_; }

  /// The model has handled these itself, on the way to the communication point.
  void take_handled(std::vector<Happening> what) { handled_ = std::move(what); }

  /// On the way to `t` the model had a step event at `found` (infinity: none), s. A macro-step that
  /// ends at the one found last has it at its end, where it is still to happen.
  double first_step_event(double found, double t) {
    step_event_ = std::min(found, step_event_ == t ? t : never);
    return step_event_;
  }

  OdeInterface interface() const override { return model_.interface(); }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    model_.derivatives(t, x, u, dxdt);
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    model_.outputs(t, x, u, y);
  }

  bool has_events() const override { return model_.has_events(); }
  std::size_t indicator_count() const override { return z_.size(); }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<Indicator> z) override;
  void indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                        const Motion& motion, std::span<double> slopes) override;
  double next_time_event() const override { return model_.next_time_event(); }
  void begin(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/) override {}
  bool settle(const EventPoint& point, std::span<const double> x,
              std::vector<Happening>& what) override;
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override;
  void pass_events(Archive& archive) override {
    CONCORD_MEMBERS(archive, above_, slack_, completed_);
    if (archive.reading()) {
      step_event_ = never;
      handled_.clear();
    }
  }
  void take_over(Archive& /*archive*/) override {}

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  double move(double t, std::span<const double> x, std::span<const double> u, const Motion& motion,
              double time);
  double find_due(const EventPoint& point, std::span<const double> x, std::vector<Happening>& what);
  bool has_changed(std::size_t i) const { return (z_[i] > 0.0) != (above_[i] != 0); }
  std::optional<double> find_changed_signs(const EventPoint& point, std::span<const double> x,
                                           std::vector<Happening>& what);
  void note_signs(double t, std::span<const double> x, std::span<const double> u);
  void return_states(std::span<double> x) const;

  HybridModel& model_;
  std::vector<double> z_;    ///< the model's, where it was last asked
  std::vector<char> above_;  ///< whether they were positive after the last event
  double slack_ = 0.0;       ///< of the last instant, s
  bool located_ = false;
  double completed_ = std::numeric_limits<double>::quiet_NaN();  ///< time of the last such step
  double step_event_ = never;
  std::vector<Happening> handled_;
  std::vector<std::size_t> changed_;      ///< scratch
  std::vector<double> x_, u_, x_before_;  ///< scratch: a point close by
};

}  // namespace concord

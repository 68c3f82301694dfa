#pragma once

#include <span>
#include <vector>

#include "subsystem/grazes.hpp"
#include "subsystem/ode/event_search.hpp"

namespace concord {

/// Of an OdeModel with events, on behalf of its subsystem: when they come, and that they happen.
class OdeEvents {
 public:
  /// All must outlive it.
  OdeEvents(EventModel& model, CheckedModel& checked, RightHandSide& rhs);
  ~OdeEvents() { rhs_.watch(nullptr); }
  OdeEvents(const OdeEvents&) = delete;
  OdeEvents& operator=(const OdeEvents&) = delete;

  EventModel& model() { return model_; }
  EventSearch& search() { return search_; }

  /// Nothing has been evaluated yet.
  void start(double t, std::span<const double> x, std::span<const InputVariable> inputs);

  /// A macro-step begins at t, with the inputs that were given last.
  void begin(double t, std::span<const double> x);

  /// The earliest time in the macro-step that begins at `begin`, or roughly behind. `inputs`: those
  /// at its end, t and x; empty where they are not known.
  double next(double begin, double t, std::span<const double> x, std::span<const Sample> inputs);

  /// Whether nothing happens at t or within the slack, as far as is known without looking at the
  /// model: where its inputs are those with which it was looked at last.
  bool is_quiet(double t, std::span<const Sample> inputs, double slack) const;
  /// The model has other parameters.
  void look_again() { looked_.until = never; }

  /// At t, where the last search has ended, with x. False: the model fails.
  bool happen(EventPass pass, double t, double begin, std::span<double> x,
              std::span<const Sample> inputs, double slack, EventChange& change,
              std::vector<Happening>& what);

  /// As TellsGrazes, on the way from `begin` to t and x; `noise`: relative, of states and inputs.
  std::vector<Graze> grazes(double begin, double t, std::span<const double> x,
                            std::span<const Sample> inputs, double noise);

  /// As TellsGrazes, at t, where the way from `begin` has ended and something may happen.
  double take_errors(double begin, double t, std::span<const double> x,
                     std::span<const Sample> inputs, const Motion& errors,
                     std::span<const double> discrete);

  /// As TellsGrazes, at t.
  bool pass_discrete(double t, std::span<const double> x, std::span<const Sample> inputs,
                     std::span<const double> errors, std::span<double> f, std::span<double> g);

  /// The model's own first, which other models may take over.
  void io(Archive& archive) {
    model_.pass_events(archive);
    CONCORD_MEMBERS(archive, search_, u_);
    if (archive.reading()) {
      looked_.until = never;
      begun_at_ = std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  double find_next(double begin, double t, std::span<const double> x,
                   std::span<const Sample> inputs);
  double next_by_end(double begin, double t, std::span<const double> x,
                     std::span<const Sample> inputs, bool hold_jumped);
  bool is_misled(std::size_t indicator, double h, double t, std::span<const double> x,
                 std::span<const Sample> inputs);
  bool find_bends(double h, double t, std::span<const double> x);
  double instant_error(double t, double h, std::span<const double> x,
                       std::span<const double> discrete);
  bool shown_late(std::size_t indicator) const;
  double last_known(std::size_t indicator, double begin, double t) const;
  Graze graze(const EventSearch::Turn& turn, double t, std::span<const double> x);
  bool take(double t, std::span<const double> x, std::span<const Sample> inputs);
  bool look_at_outputs(double t, std::span<const double> x, std::vector<Sample>& outputs);
  bool only_bends(double t, std::span<const double> x, double slack);

  /// `call` of t on the side from which f and g have their limits. False: the model fails.
  template <class Call>
  bool at(double t, Call&& call) {
    return checked_.confine(t) && checked_.attempt(t, call);
  }

  EventModel& model_;
  CheckedModel& checked_;
  RightHandSide& rhs_;
  EventSearch search_;
  std::vector<double> u_;                               ///< inputs that were given last
  std::vector<double> dudt_, dxdt_, slopes_, u_there_;  ///< scratch
  std::vector<double> bends_;                           ///< scratch
  std::vector<Indicator> z_;
  std::vector<Indicator> z_begin_;  ///< where the macro-step begins, with the inputs there
  /// At t, with these inputs: nothing happens up to `until`.
  struct {
    double t = 0.0, until = never;
    std::vector<Sample> inputs;
  } looked_;
  struct {
    double t = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> states, inputs;
  } errors_;
  std::vector<Sample> outputs_before_, outputs_behind_;  ///< of a pass
  std::vector<double> y_, dydt_;                         ///< scratch
  double begun_at_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace concord

#pragma once

#include <span>
#include <vector>

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

  /// The earliest time in the macro-step that begins at `begin`, or roughly behind. `inputs`: those
  /// at its end, t and x; empty where they are not known.
  double next(double begin, double t, std::span<const double> x, std::span<const Sample> inputs);

  /// At t, where the last search has ended, with x. False: the model fails.
  bool happen(EventPass pass, double t, double begin, std::span<double> x,
              std::span<const Sample> inputs, double slack, bool& changed,
              std::vector<Happening>& what);

 private:
  EventModel& model_;
  CheckedModel& checked_;
  RightHandSide& rhs_;
  EventSearch search_;
  std::vector<double> u_, dudt_, dxdt_;  ///< scratch
  std::vector<Indicator> z_;
};

}  // namespace concord

#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// The events of all subsystems; what is said here is the same on every rank. All calls are
/// collective where there are events, and cost nothing where there are none.
class NetworkEvents {
 public:
  /// Both must outlive it.
  NetworkEvents(RankNetwork& subsystems, Coupling& coupling)
      : subsystems_(subsystems), coupling_(coupling), any_(subsystems.network().has_events()) {}

  bool any() const { return any_; }

  /// After the start, which shows whether there are more than was known. Collective.
  void look_for_more();

  void io(Archive& archive) { CONCORD_MEMBERS(archive, any_); }

  /// The next time at which something happens whatever states and inputs are.
  double next_time();

  /// After a macro-step: the earliest time at which something happens, in it or, roughly, behind.
  /// `fed`: P y at its end; empty where the macro-step has failed.
  double next(std::span<const Sample> fed);

  /// One pass at a communication point. Whether something has changed; `what`: of the whole
  /// network, by subsystem. Throws SimulationError.
  bool pass(EventPass pass, std::span<const Sample> inputs, double slack,
            std::vector<EventReport>& what);

 private:
  Outcome happen_in(Subsystem& whole, EventPass pass, double slack, bool& changed);

  RankNetwork& subsystems_;
  Coupling& coupling_;
  bool any_;
  std::vector<Happening> happened_;  ///< scratch
};

}  // namespace concord

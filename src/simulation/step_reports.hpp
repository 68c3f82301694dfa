#pragma once

#include <array>
#include <span>

#include "simulation/event_steps.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// The report of a macro-step, from its first attempt to what is told of it.
class StepReports {
 public:
  StepReport& current() { return report_; }
  const StepReport& current() const { return report_; }

  /// A macro-step begins.
  void begin();

  /// The attempt is not kept; and why, unless an event is inside.
  void reject(Rejection reason);
  Rejection reason() const;

  /// The attempt is: the macro-step ends at `point`, and has cost what all attempts have.
  void accept(const MacroStep& step, const CommunicationPoint& point);

  /// Of the accepted macro-step, or of the two that were taken together through `middle` (null:
  /// one), whose whole cost is the first one's; with what happened at the end.
  std::span<const StepReport> tell(const Middle* middle, const EventSteps& events);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, report_.index); }

 private:
  StepReport report_;
  Effort rejected_;  ///< of the attempts at this macro-step that were not kept
  std::array<StepReport, 2> accepted_;
};

}  // namespace concord

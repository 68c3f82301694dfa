#pragma once

#include <functional>
#include <span>

#include "subsystem/fmu/description/clock.hpp"
#include "subsystem/fmu/description/model_description.hpp"

namespace concord {

/// What an FMU says of the interval of a clock, as fmi3IntervalQualifier numbers it.
enum class IntervalQualifier : int { not_yet_known, unchanged, changed };

/// The calls of an instance that concern its clocks. Those that return bool give false where the
/// FMU reports discard or error, as all of FmuInstance do.
class ClockCalls {
 public:
  virtual ~ClockCalls() = default;

  /// In event mode: these input clocks tick in this super-dense instant.
  virtual bool set_clocks(std::span<const FmiReference> clocks) = 0;

  /// Which of these output clocks tick, in event mode or while a model partition runs; after that
  /// call they no longer do.
  virtual bool get_clocks(std::span<const FmiReference> clocks, std::span<char> active) = 0;

  /// `interval` stays where the FMU does not know it yet.
  virtual bool get_interval(FmiReference clock, bool as_fraction, ClockTime& interval,
                            IntervalQualifier& qualifier) = 0;
  virtual bool get_shift(FmiReference clock, bool as_fraction, ClockTime& shift) = 0;

  /// Scheduled execution: runs the model partition of an input clock that ticks at t. What
  /// `on_update` throws, this throws.
  virtual bool activate_partition(FmiReference clock, double t) = 0;

  /// Called back within it where output clocks tick or intervals of countdown clocks are known.
  virtual void on_clock_update(std::function<void()> callback) = 0;
};

}  // namespace concord

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace concord {

/// When a clock ticks (FMI 3.0.2, 2.2.8.2): periodic, periodic with what the FMU tells of it before
/// the start or with its parameters; so long after its last tick as the FMU says then; so long
/// after an event as it says at that event; when its source does.
enum class ClockInterval { constant, fixed, calculated, tunable, changing, countdown, triggered };

/// A time: counter / resolution, s. Where a clock has no fraction the resolution is 1.
struct ClockTime {
  double counter = 0.0;
  double resolution = 1.0;

  double seconds() const { return counter / resolution; }
};

/// The attributes of <Clock>.
struct FmiClock {
  ClockInterval interval = ClockInterval::triggered;
  std::optional<ClockTime> period;        ///< intervalCounter, or intervalDecimal
  ClockTime shift;                        ///< shiftCounter, or shiftDecimal
  bool fractions = false;                 ///< supportsFraction
  std::optional<std::uint32_t> priority;  ///< the smaller, the earlier
  bool can_be_deactivated = false;
  bool announces =
      false;  ///< a time-based one: outputs that are texts or bytes change at its ticks

  /// Its interval, and where that begins, stay until the FMU says otherwise.
  bool is_periodic() const {
    return interval != ClockInterval::changing && interval != ClockInterval::countdown &&
           interval != ClockInterval::triggered;
  }
  /// Concord knows its instants; else another clock does.
  bool is_time_based() const { return interval != ClockInterval::triggered; }
};

/// "constant", "countdown", ...: as in modelDescription.xml.
const char* name_of(ClockInterval interval);

/// "every 0.1 s from 0.02 s on", "countdown", ..., with priority and what else is told of it.
std::string in_words(const FmiClock& clock);

}  // namespace concord

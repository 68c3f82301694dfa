#pragma once

#include <limits>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/fmu/description/clock.hpp"

namespace concord {

/// The ticks to come of a time-based clock: at base + (first + n interval) / resolution, s, of
/// which n is the next. One formula and no running sum, so that the thousandth tick of 0.1 s is at
/// 100 s.
struct ClockPace {
  using AllDoubles = void;  ///< for archives
  double base = 0.0, first = 0.0, interval = 0.0, resolution = 1.0;
  double n = 0.0;
  double known = 0.0;  ///< 0: when it ticks next is not known

  static ClockPace from(double base, const ClockTime& first, const ClockTime& interval) {
    const bool alike = first.resolution == interval.resolution;
    const ClockTime own = alike ? first : ClockTime{first.seconds() * interval.resolution, 1.0};
    return {base, own.counter, interval.counter, interval.resolution, 0.0, 1.0};
  }
  /// Infinity where it is not known.
  double next() const {
    if (known == 0.0) return std::numeric_limits<double>::infinity();
    return base + (first + n * interval) / resolution;
  }
};

/// What of an FMU's clocks changes, and what they hold between their ticks.
struct ClockMemory {
  std::vector<ClockPace> paces;  ///< of each time-based clock
  std::vector<double> calls;     ///< of each triggered input clock: ticks that the FMU has had
  std::vector<double> last;      ///< of each input clock, s: its last tick
  std::vector<double> held;      ///< of all outputs; numbers of ticks are those of output clocks
  /// Of elements of all text outputs: what ticks have put out and nobody has fetched yet; of text
  /// inputs: what has come for ticks that have not been.
  std::vector<std::vector<std::string>> said, heard;
  std::vector<std::string> texts;  ///< of text inputs, as the FMU has them since their last tick

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, paces, calls, last, held, said, heard, texts);
  }
};

}  // namespace concord

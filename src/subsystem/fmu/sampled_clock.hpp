#pragma once

#include <chrono>
#include <cstdint>

namespace concord {

/// Adds up the time of calls. Calls of less than 5 microseconds are not all measured, because two
/// looks at the clock would cost as much as the cheapest FMU: one in 16 stands for the others.
class SampledClock {
 public:
  void begin() {
    measures_ = slow_ || ++call_ % period == 0;
    if (measures_) begin_ = Clock::now();
  }

  void end(double& total) {
    if (!measures_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    total += slow_ ? seconds : period * seconds;
    slow_ = seconds > worth_measuring;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int period = 16;
  static constexpr double worth_measuring = 5e-6;

  Clock::time_point begin_;
  std::int64_t call_ = 0;
  bool slow_ = true;  ///< the last measured call was, or there was none
  bool measures_ = false;
};

}  // namespace concord

#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "concord/archive.hpp"
#include "settings/realtime.hpp"

namespace concord {

/// How late macro-steps were done, by the clock.
struct Lateness {
  /// Up to which, in s; what is later counts in the last bin.
  static constexpr std::array<double, 4> limits{1e-3, 1e-2, 1e-1, 1.0};

  std::int64_t steps = 0;  ///< that were paced
  std::array<std::int64_t, limits.size() + 1> late{};
  double most = 0.0;  ///< s

  void count(double seconds);
  std::int64_t total() const;
  /// "7 of 100 macro-steps late, at most 0.012 s: 5 up to 0.001 s, 2 up to 0.1 s"
  std::string describe() const;
  void io(Archive& archive) { CONCORD_MEMBERS(archive, steps, late, most); }
};

/// Makes a run as fast as the clock, or `factor` times as fast: communication point t is passed no
/// earlier than (t - t_0) / factor after the beginning, by the first rank's clock.
class Pacing {
 public:
  Pacing(MPI_Comm comm, const RealtimeSettings& settings);

  /// At time t the clock starts.
  void begin(double t);

  /// Communication point t is reached: waits until it is due, or a signal comes. Gives the s that
  /// were waited. Throws SimulationError where it is late and that is a failure; what is late
  /// counts in `lateness`. Collective.
  double keep(double t, Lateness& lateness);

 private:
  using Clock = std::chrono::steady_clock;
  void be_late(double t, double seconds, Lateness& lateness);

  MPI_Comm comm_;
  RealtimeSettings settings_;
  double begin_ = 0.0;  ///< s, model time
  Clock::time_point began_;
};

}  // namespace concord

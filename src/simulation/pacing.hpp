#pragma once

#include <mpi.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "concord/archive.hpp"
#include "settings/realtime.hpp"
#include "support/deadline.hpp"

namespace concord {

/// How late macro-steps were done, by the clock.
struct Lateness {
  /// Up to which, in s; what is later counts in the last bin.
  static constexpr std::array<double, 6> limits{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0};

  std::int64_t steps = 0;  ///< that were paced
  std::array<std::int64_t, limits.size() + 1> late{};
  double most = 0.0;             ///< s
  std::int64_t ended_early = 0;  ///< macro-steps, before their iterations had converged
  double left_out = 0.0;         ///< by these, at most, in units of the coupling's tolerance
  /// By how much after their times communication points were passed, by this rank's clock, late or
  /// not: from 1e-7 s on, ten bins a decade.
  std::array<std::int64_t, 90> passed{};

  void count(double seconds);
  void end_early(double residual);
  void pass(double seconds);
  std::int64_t total() const;
  /// Within how many s after their times that share of communication points was passed, to a
  /// quarter; 0 where none was.
  double within(double share) const;
  /// "7 of 100 macro-steps late, at most 0.012 s: 5 up to 0.001 s, 2 up to 0.1 s; passed within
  /// 5e-07 s (half), 2e-06 s (99 %), 0.012 s (99.99 %); 3 ended before they had converged, at most
  /// 40 times the coupling tolerance left out"
  std::string describe() const;
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, steps, late, most, passed, ended_early, left_out);
  }
  int memory_version() const { return 3; }
};

/// Makes a run as fast as the clock, or `factor` times as fast: communication point t is passed no
/// earlier than (t - t_0) / factor after the beginning, by the first rank's clock.
class Pacing {
 public:
  Pacing(MPI_Comm comm, const RealtimeSettings& settings);
  ~Pacing();
  Pacing(const Pacing&) = delete;
  Pacing& operator=(const Pacing&) = delete;

  /// At time t the clock starts, also for the iterations of macro-steps. What was to be locked and
  /// is not, in words; empty: nothing.
  std::string begin(double t, Deadline& deadline);

  /// Communication point t is reached: waits until it is due, or a signal comes. Gives the s that
  /// were waited. Throws SimulationError where it is late and that is a failure; what is late
  /// counts in `lateness`. Collective.
  double keep(double t, Lateness& lateness, Deadline& deadline);

 private:
  using Clock = std::chrono::steady_clock;
  void pace(Deadline& deadline) const;
  void be_late(double t, double seconds, Lateness& lateness);
  std::string lock();

  MPI_Comm comm_;
  RealtimeSettings settings_;
  double begin_ = 0.0;                         ///< s, model time
  bool in_memory_ = false, in_front_ = false;  ///< what is locked
  int policy_ = 0;                             ///< of scheduling, before that
  sched_param priority_{};
  Clock::time_point began_;
};

}  // namespace concord

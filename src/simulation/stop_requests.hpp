#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace concord {

/// What rank 0's clock and any rank's signals (StopSignals) ask of a run after a macro-step.
///
/// Rows that only memory holds are lost when the process is killed, so results are flushed every
/// two seconds; flushes take a fiftieth of the time at most. The clock is read where macro-steps
/// have taken a tenth of a second, or in each one under a time limit.
class StopRequests {
 public:
  /// `time_limit`: s of wall time, from here on.
  StopRequests(MPI_Comm comm, std::optional<double> time_limit);

  /// After macro-steps that took `wall_time` s: flushes with `flush` where that is due. False: the
  /// run is to stop, for the `reason`, or because a subsystem has failed since (`failed`, on any
  /// rank). Collective.
  bool go_on(double wall_time, bool failed, const std::function<void()>& flush);

  /// Why the run stops before its end; empty while it goes on.
  const std::string& reason() const { return reason_; }
  /// The number of the signal that is the reason, or 0.
  int signal() const { return signal_; }
  /// s since the beginning.
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  int own_request(bool failed);
  std::string reason_of(int request) const;

  MPI_Comm comm_;
  int rank_ = 0;
  std::optional<double> time_limit_;
  std::string reason_;
  int signal_ = 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point flushed_ = began_;
  double flush_time_ = 0.0;  ///< s, of the last one
  double busy_ = 0.0;        ///< s in macro-steps since the clock was read
};

}  // namespace concord

#pragma once

#include <array>
#include <csignal>

namespace concord {

/// While it lives, the signals that ask a program to end ask for the end of the run at the next
/// communication point, and, a second time, for its end at once; before and after they do what they
/// did. A signal that is ignored stays so (nohup, background jobs).
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first signal that came, or 0.
  static int received();

 private:
  static constexpr std::array<int, 9> numbers = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP,
                                                 SIGQUIT, SIGXCPU, SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, numbers.size()> before_ = {};
};

}  // namespace concord

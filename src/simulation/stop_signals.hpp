#pragma once

#include <array>
#include <csignal>

namespace concord {

/// While it lives, the signals that ask a program to end ask for the end of the run at the next
/// communication point, and, a second time, for its end at once; before and after they do what they
/// did. A signal that is ignored stays so (nohup, background jobs). One may live within another, as
/// a run's does within a sweep's: then a signal that came before it counts for it, too.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The program is ending because a signal came, to this rank or to another: the same signals are
  /// ignored once no StopSignals live. Launchers send them to one rank after the other.
  static void ignore_late_ones();

  /// The first signal that came, or 0.
  static int received();

 private:
  static constexpr std::array<int, 9> numbers = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP,
                                                 SIGQUIT, SIGXCPU, SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, numbers.size()> before_ = {};
};

}  // namespace concord

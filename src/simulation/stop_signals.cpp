#include "simulation/stop_signals.hpp"

#include <ctime>

#include "support/foreign_call.hpp"

namespace concord {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
timespec stop_time;
int alive = 0;  // of StopSignals
bool late_ones_are_ignored = false;

/// What a write to a pipe or file raises, again at every write: it asks once.
bool comes_with_writes(int number) { return number == SIGPIPE || number == SIGXFSZ; }

/// A launcher may send a signal twice: only one that comes a second later is a second one.
void request_stop(int number) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (stop_signal == 0) {
    stop_time = now;
    stop_signal = number;
  } else if (now.tv_sec - stop_time.tv_sec > 1 && !comes_with_writes(number)) {
    end_at_once("ended by a second signal before the next communication point");
  }
}

}  // namespace

StopSignals::StopSignals() {
  if (alive++ == 0) {
    stop_signal = 0;  // that of an earlier run has been obeyed
    late_ones_are_ignored = false;
  }
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(numbers[i], &action, nullptr);
    }
  }
}

StopSignals::~StopSignals() {
  const bool last = --alive == 0;
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], last && late_ones_are_ignored ? &ignored : &before_[i], nullptr);
  }
}

void StopSignals::ignore_late_ones() { late_ones_are_ignored = true; }

int StopSignals::received() { return stop_signal; }

}  // namespace concord

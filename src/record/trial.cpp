#include "record/trial.hpp"

#include <sys/resource.h>

#include <csignal>

#include "concord/errors.hpp"
#include "files/child_process.hpp"

namespace concord {
namespace {

constexpr rlim_t cpu_seconds = 5;
constexpr unsigned seconds = 600;  // a slow file system is no hang

/// Whatever handlers of ours there are, a crash ends the process, and so does a hang.
void die_of_faults() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit cpu{cpu_seconds, cpu_seconds};
  setrlimit(RLIMIT_CPU, &cpu);
}

}  // namespace

bool survives_trial(const std::function<void()>& action) {
  try {
    return in_child_process(seconds,
                            [&](const auto&) {
                              die_of_faults();
                              action();
                            })
        .ended;
  } catch (const SimulationError&) {
    return true;
  }
}

}  // namespace concord

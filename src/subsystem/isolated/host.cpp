#include "subsystem/isolated/host.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "subsystem/isolated/hosted_subsystem.hpp"
#include "support/channel.hpp"
#include "support/foreign_call.hpp"

namespace concord {
namespace {

Channel* channel = nullptr;

void tell_caller(const char* text) { channel->write_last_words(text); }

/// What a terminal or a batch system sends to everybody is the caller's to answer.
void ignore_signals() {
  for (const int number :
       {SIGINT, SIGHUP, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGPIPE, SIGXFSZ})
    std::signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Ends this process when the caller has ended, or when it orders that: then with a word about the
/// function that is running.
void watch_caller(int caller) {
  for (;;) {
    pollfd files[] = {{caller, POLLIN, 0}, {host_order, POLLIN, 0}};
    if (poll(files, 2, -1) < 0 && errno != EINTR) _exit(1);
    if ((files[0].revents & POLLIN) != 0) _exit(1);
    if ((files[1].revents & POLLIN) != 0) end_at_once(channel->reason());
  }
}

/// Without signals, which are the foreign code's.
void start_watching(int caller) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(watch_caller, caller).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

int subsystem_host(int argc, char** argv) {
  const pid_t caller = argc == 2 ? static_cast<pid_t>(std::atoi(argv[1])) : 0;
  const int caller_file = caller > 0 ? static_cast<int>(syscall(SYS_pidfd_open, caller, 0)) : -1;
  if (caller_file < 0 || getppid() != caller) {
    std::fprintf(stderr, "concord: error: this program is started by Concord alone\n");
    return 2;
  }
  ignore_signals();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Channel from_caller(host_memory);
  channel = &from_caller;
  tell_foreign_end_to(tell_caller);
  watch_foreign_code();
  start_watching(caller_file);
  HostedSubsystem hosted;
  for (;;) {
    const auto [answer, goes_on] = hosted.answer_to(from_caller.next_call());
    if (!goes_on) std::fflush(nullptr);
    from_caller.answer(answer);
    if (!goes_on) _exit(0);
  }
}

}  // namespace concord

#include "support/foreign_call.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>

#include "concord/program.hpp"

namespace concord {

ForeignCall::Running ForeignCall::running_;

namespace {

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr unsigned longest_heap_check = 3;  // seconds

/// One line of text, made without the heap.
class Line {
 public:
  Line& operator<<(const char* text) {
    const std::size_t count = std::min(std::strlen(text), sizeof text_ - 1 - size_);
    std::memcpy(text_ + size_, text, count);
    size_ += count;
    return *this;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> Line& operator<<(Number number) {
    size_ = static_cast<std::size_t>(
        std::to_chars(text_ + size_, text_ + sizeof text_ - 1, number).ptr - text_);
    return *this;
  }
  void clear() { size_ = 0; }
  const char* text() {
    text_[size_] = '\0';
    return text_;
  }
  void write_as_error() const {
    constexpr char prefix[] = "concord: error: ";
    ssize_t ignored = write(STDERR_FILENO, prefix, sizeof prefix - 1);
    ignored = write(STDERR_FILENO, text_, size_);
    ignored = write(STDERR_FILENO, "\n", 1);
    static_cast<void>(ignored);
  }

 private:
  char text_[2048];
  std::size_t size_ = 0;
};

/// Where `surviving` stands; the innermost one.
struct Shore {
  sigjmp_buf place;
  Shore* outer;
};

struct Watch {
  bool installed = false;
  pid_t process = 0;
  pthread_t thread{};
  std::uintptr_t stack_end = 0;  ///< lowest address of the thread's stack
  struct sigaction before[std::size(crashes)];
  std::terminate_handler terminate_before = std::abort;
  Shore* volatile shore = nullptr;
  volatile std::sig_atomic_t ended = 0, told = 0, exits_are_errors = 0;
  void (*tell)(const char* text) = nullptr;
  Line end;
};
Watch watch;

/// "fmi2DoStep of subsystem 'left' (left.fmu) at t = 0.5 s"
void tell_place(Line& line, const ForeignPlace& place) {
  line << ForeignCall::running().function;
  if (*place.subsystem != '\0') line << " of subsystem '" << place.subsystem << "'";
  if (*place.origin != '\0') line << " (" << place.origin << ")";
  if (place.time == place.time)
    line << " at t = " << place.time << " s";
  else
    line << " before the start";
}

[[noreturn]] void end_process() {
  if (watch.told == 0 && watch.tell != nullptr) {
    watch.tell(watch.end.text());
  } else if (watch.told == 0) {
    watch.end.write_as_error();
  }
  _exit(1);
}

bool in_this_process() { return getpid() == watch.process; }

/// Back to the innermost `surviving`, with what watch.end says; without one the process ends.
[[noreturn]] void leave() {
  const bool here = pthread_equal(pthread_self(), watch.thread) != 0;
  if (watch.ended != 0 || !here || watch.shore == nullptr) end_process();
  watch.ended = 1;
  siglongjmp(watch.shore->place, 1);
}

/// "the FMU crashed (SIGSEGV) in fmi2DoStep of subsystem ..."
[[noreturn]] void leave_place(const ForeignPlace& place, const char* did, const char* detail,
                              const char* remedy) {
  watch.end.clear();
  watch.end << place.what << " " << did << detail << " in ";
  tell_place(watch.end, place);
  watch.end << "; " << remedy;
  leave();
}

/// Whether the fault is just below the stack, where it can grow no further.
bool stack_is_full(int number, const siginfo_t* info) {
  constexpr std::uintptr_t beyond = 1 << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  return number == SIGSEGV && address + beyond > watch.stack_end &&
         address < watch.stack_end + beyond;
}

/// What a floating-point operation did that is trapped (-fp_trap); null: the signal is no such
/// trap.
const char* trapped_operation(int number, const siginfo_t* info) {
  if (number != SIGFPE) return nullptr;
  switch (info->si_code) {
    case FPE_FLTDIV:
      return "division by zero";
    case FPE_FLTOVF:
      return "overflow";
    case FPE_FLTUND:
      return "underflow";
    case FPE_FLTRES:
      return "inexact result";
    case FPE_FLTINV:
      return "invalid operation";
    default:
      return nullptr;
  }
}

[[noreturn]] void leave_trap(const char* operation) {
  watch.end.clear();
  watch.end
      << "a floating-point " << operation
      << " was trapped (-fp_trap), also where it does no harm; leave this option out: the run "
         "tells which subsystem and variable becomes infinite or not a number, and when";
  leave();
}

void restore_default(int number) {
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i] == number) sigaction(number, &watch.before[i], nullptr);
}

constexpr const char* remedy_of_crash = "ask whoever made it, or run without this subsystem";

void on_crash(int number, siginfo_t* info, void*) {
  if (!in_this_process()) {
    std::signal(number, SIG_DFL);
    raise(number);
    return;
  }
  if (watch.ended != 0) end_process();
  if (const ForeignPlace* place = ForeignCall::running().place) {
    Line detail;
    detail << "(SIG" << sigabbrev_np(number)
           << (stack_is_full(number, info) ? ", its stack is full)" : ")");
    leave_place(*place, "crashed ", detail.text(), remedy_of_crash);
  }
  if (const char* operation = trapped_operation(number, info)) leave_trap(operation);
  restore_default(number);
  raise(number);
}

/// The exception out of which std::terminate was called, in words.
const char* current_words() {
  static Line words;
  words.clear();
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
    words << "std::terminate";
  } catch (const std::exception& error) {
    words << "threw '" << error.what() << "' where no exception may leave";
  } catch (...) {
    words << "threw where no exception may leave";
  }
  return words.text();
}

[[noreturn]] void on_terminate() {
  if (in_this_process() && watch.ended == 0) {
    if (const ForeignPlace* place = ForeignCall::running().place)
      leave_place(*place, current_words(), "", remedy_of_crash);
  }
  watch.terminate_before();
  std::abort();
}

void on_any_exit(const char* function, int status, bool knows_status) {
  if (!in_this_process()) return;
  if (const ForeignPlace* place = ForeignCall::running().place) {
    Line detail;
    detail << function << "(";
    if (knows_status) detail << status;
    detail << ")";
    leave_place(*place, "called ", detail.text(),
                "a subsystem must not end the program: let it report an error");
  }
  if (watch.ended != 0 && watch.told == 0) end_process();
  if (watch.exits_are_errors == 0) return;
  watch.end.clear();
  watch.end << "the program was ended by a call of " << function << " during the run, from outside "
            << "of any subsystem's function (a thread, a library)";
  end_process();
}

void on_exit_called(int status, void*) { on_any_exit("exit", status, true); }
void on_quick_exit() { on_any_exit("quick_exit", 0, false); }

/// The heap's locks are held by whoever crashed inside of it.
void on_alarm(int) { end_process(); }

/// Does not return where the crash has left the heap unusable.
void require_heap() {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, &before);
  sigset_t alarm_only, mask;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, &mask);
  alarm(longest_heap_check);
  for (const std::size_t size : {std::size_t{40}, std::size_t{3000}, std::size_t{60000}}) {
    void* volatile block = std::malloc(size);
    std::free(block);
  }
  alarm(0);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

/// A stack of their own for handlers, and where the ordinary one ends.
void provide_stacks() {
  alignas(16) static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  pthread_attr_t attributes;
  if (pthread_getattr_np(watch.thread, &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &size) == 0)
    watch.stack_end = reinterpret_cast<std::uintptr_t>(lowest);
  pthread_attr_destroy(&attributes);
}

void install_handlers() {
  watch.process = getpid();
  watch.thread = pthread_self();
  provide_stacks();
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_NODEFER | SA_ONSTACK | SA_SIGINFO;
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    sigaction(crashes[i], &action, &watch.before[i]);
  watch.terminate_before = std::set_terminate(on_terminate);
  std::at_quick_exit(on_quick_exit);
  watch_exits();
}

}  // namespace

CrashesEndProcess::CrashesEndProcess() : survivor_(watch.shore) { watch.shore = nullptr; }
CrashesEndProcess::~CrashesEndProcess() { watch.shore = static_cast<Shore*>(survivor_); }

bool foreign_code_has_ended() { return watch.ended != 0; }

void foreign_code_ends_child() {
  watch.process = getpid();
  watch.shore = nullptr;
  ForeignCall::forget_running();
}

void end_foreign_call(const char* did) {
  static Line words;
  words.clear();
  words << did;
  if (const ForeignPlace* place = ForeignCall::running().place)
    leave_place(*place, words.text(), "", remedy_of_crash);
  end_at_once(words.text());
}

void foreign_end_is_told() { watch.told = 1; }

void tell_foreign_end_to(void (*tell)(const char* text)) { watch.tell = tell; }

void watch_foreign_code() {
  if (!std::exchange(watch.installed, true)) install_handlers();
}

void watch_exits() { on_exit(on_exit_called, nullptr); }

void surviving(void (*work)(void*), void* data) {
  Shore shore;
  shore.outer = watch.shore;
  struct Leaving {
    Shore* outer;
    ~Leaving() { watch.shore = outer; }
  };
  const Leaving leaving{shore.outer};
  if (sigsetjmp(shore.place, 0) != 0) {
    ForeignCall::forget_running();
    require_heap();
    throw ForeignEnd(watch.end.text());
  }
  watch.shore = &shore;
  work(data);
}

namespace {

constexpr int looks_per_limit = 4;

/// What the last looks have seen, each at the same thing.
struct {
  double limit = 0.0;
  unsigned call = 0;
  std::sig_atomic_t advance = 0;
  int at_call = 0, at_advance = 0;
} hang;

int signal_of_looks() { return SIGRTMIN + 3; }

}  // namespace

void HangWatch::look(int) {
  const auto& running = ForeignCall::running();
  hang.at_call = running.place != nullptr && running.changes == hang.call ? hang.at_call + 1 : 0;
  hang.call = running.changes;
  const bool same = Advancing::under_way_ != 0 && Advancing::count_ == hang.advance;
  hang.at_advance = same ? hang.at_advance + 1 : 0;
  hang.advance = Advancing::count_;
  if (hang.at_advance >= looks_per_limit) Advancing::overdue_ = hang.advance;
  if (hang.at_call >= looks_per_limit) {
    Line limit;
    limit << hang.limit << " s";
    leave_place(*running.place, "has not returned after ", limit.text(),
                "ask whoever made it, or give it longer with -cosim_hang_limit");
  }
}

HangWatch::HangWatch(std::optional<double> limit) {
  if (!limit) return;
  hang = {};
  hang.limit = *limit;
  watch_foreign_code();
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART | SA_NODEFER | SA_ONSTACK;
  sigaction(signal_of_looks(), &action, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_of_looks();
  event._sigev_un._tid = gettid();
  constexpr double shortest_interval = 1e-3;  // s
  const double interval = std::max(*limit / looks_per_limit, shortest_interval);
  set_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  itimerspec times = {};
  times.it_interval.tv_sec = static_cast<time_t>(interval);
  times.it_interval.tv_nsec = static_cast<long>(1e9 * (interval - std::floor(interval)));
  times.it_value = times.it_interval;
  if (!set_ || timer_settime(timer_, 0, &times, nullptr) != 0) {
    throw SimulationError(std::string("-cosim_hang_limit: the system gives no timer (") +
                          std::strerror(errno) + "); leave the option out");
  }
}

HangWatch::~HangWatch() {
  if (set_) timer_delete(timer_);
  Advancing::overdue_ = -1;
}

ExitsAreErrors::ExitsAreErrors() { watch.exits_are_errors = 1; }
ExitsAreErrors::~ExitsAreErrors() { watch.exits_are_errors = 0; }

void end_at_once(const char* reason) {
  watch.end.clear();
  watch.end << reason;
  if (const ForeignPlace* place = ForeignCall::running().place) {
    watch.end << "; this process was in ";
    tell_place(watch.end, *place);
  }
  end_process();
}

}  // namespace concord

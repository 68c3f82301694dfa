#pragma once

#include <csignal>
#include <ctime>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

// Code that others wrote (FMUs, C++ of users) runs inside the program and may end it: by a crash,
// by exit(), by an exception where none is allowed. What is here turns such ends into an exception
// of the call that led there, so that files are closed and no rank waits. `_exit` and SIGKILL
// cannot be caught in one's own process.

/// Whose code is called, as a message about its end names it.
struct ForeignPlace {
  const char* what = "the code";  ///< "the FMU", "the C++ code"
  const char* subsystem = "";
  const char* origin = "";                                 ///< its file; may be empty
  double time = std::numeric_limits<double>::quiet_NaN();  ///< NaN before the start
};

/// While it lives, foreign code runs in this thread: `function` of `place`, which must outlive it.
class ForeignCall {
 public:
  ForeignCall(const ForeignPlace& place, const char* function)
      : outer_place_(running_.place), outer_function_(running_.function) {
    running_.function = function;
    running_.place = &place;
    running_.changes = running_.changes + 1;
  }
  ~ForeignCall() {
    running_.place = outer_place_;
    running_.function = outer_function_;
    running_.changes = running_.changes + 1;
  }
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

  /// What handlers of signals and exits see.
  struct Running {
    const ForeignPlace* volatile place = nullptr;
    const char* volatile function = nullptr;
    volatile unsigned changes = 0;  ///< calls that have begun or ended
  };
  static const Running& running() { return running_; }
  /// After a crash has left the functions that were running.
  static void forget_running() {
    running_.place = nullptr;
    running_.function = nullptr;
  }

 private:
  static Running running_;
  const ForeignPlace* outer_place_;
  const char* outer_function_;
};

/// Foreign code has crashed or called exit(); the text names subsystem, function and time. Nothing
/// that belongs to foreign code may be called or destroyed any more.
class ForeignEnd : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// Whether a ForeignEnd was thrown in this process.
bool foreign_code_has_ended();

/// From here on crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and the like, also by a full
/// stack), std::terminate, exit() and quick_exit() inside a ForeignCall end in a ForeignEnd out of
/// the innermost `surviving`; without one, or in a thread of the foreign code, in one line on
/// stderr and exit code 1. So do floating-point traps (-fp_trap), wherever they come from.
/// Elsewhere signals do what they did before.
void watch_foreign_code();

/// Handlers of exit() run in reverse order: to be called again when a library has come whose own
/// handler waits for other ranks (HDF5).
void watch_exits();

/// Calls `work(data)`; a crash or exit of foreign code inside is thrown as ForeignEnd. `work` must
/// not communicate, and what it leaves behind must never be used or destroyed then.
void surviving(void (*work)(void*), void* data);

template <class Work>
void surviving(Work&& work) {
  using Plain = std::remove_reference_t<Work>;
  surviving([](void* data) { (*static_cast<Plain*>(data))(); },
            const_cast<void*>(static_cast<const void*>(&work)));
}

/// While it lives, a subsystem takes a macro-step, in however many calls.
class Advancing {
 public:
  Advancing() {
    under_way_ = 1;
    count_ = count_ + 1;
  }
  ~Advancing() { under_way_ = 0; }
  Advancing(const Advancing&) = delete;
  Advancing& operator=(const Advancing&) = delete;

  /// Whether the one that is under way takes longer than a HangWatch allows.
  static bool too_long() { return overdue_ == count_; }

 private:
  friend class HangWatch;
  static inline volatile std::sig_atomic_t under_way_ = 0, count_ = 0, overdue_ = -1;
};

/// While it lives, a ForeignCall of this thread that has not returned after `limit` seconds, or up
/// to a quarter more, ends as after a crash; of an Advancing that has gone on for so long
/// `too_long` is told. Without a limit it does nothing. One at a time.
class HangWatch {
 public:
  explicit HangWatch(std::optional<double> limit);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  static void look(int);

  timer_t timer_{};
  bool set_ = false;
};

/// While it lives, an exit() that comes from nowhere known is an error, too: exit code 1.
class ExitsAreErrors {
 public:
  ExitsAreErrors();
  ~ExitsAreErrors();
  ExitsAreErrors(const ExitsAreErrors&) = delete;
  ExitsAreErrors& operator=(const ExitsAreErrors&) = delete;
};

/// In a child process that was forked: ends of foreign code end it, at once.
void foreign_code_ends_child();

/// In a ForeignCall: its code, which lives in a process elsewhere, `did` what ends it ("was ended
/// by SIGKILL"). The same as after a crash; the heap is in order.
[[noreturn]] void end_foreign_call(const char* did);

/// The end has been printed: further crashes add nothing to it.
void foreign_end_is_told();

/// An end that nothing survives goes to `tell`, in the place of stderr, before the process ends.
/// `tell` is called in handlers of signals.
void tell_foreign_end_to(void (*tell)(const char* text));

/// Ends the process with exit code 1 and "concord: error: <reason>", and the foreign function that
/// is running, if any. Allowed in signal handlers.
[[noreturn]] void end_at_once(const char* reason);

}  // namespace concord

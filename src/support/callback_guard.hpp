#pragma once

#include <exception>
#include <utility>

namespace concord {

/// Carries an exception across a C library: the callback runs inside `run`, which keeps the first
/// exception and returns the library's failure code instead; the caller of the library calls
/// `rethrow` when the library has returned.
class CallbackGuard {
 public:
  /// The callback's own return code, or `failure_code` if it threw.
  template <class Code, class Callback>
  Code run(Code failure_code, Callback&& callback) noexcept {
    try {
      return std::forward<Callback>(callback)();
    } catch (...) {
      if (!kept_) kept_ = std::current_exception();
      return failure_code;
    }
  }

  bool caught() const noexcept { return kept_ != nullptr; }

  /// Throws the kept exception, once; does nothing without one.
  void rethrow() {
    if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
  }

 private:
  std::exception_ptr kept_;
};

}  // namespace concord

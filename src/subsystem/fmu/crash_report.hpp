#pragma once

#include <limits>

namespace concord {

/// An instance of an FMU, as a message about its crash names it.
struct FmuPlace {
  const char* subsystem = "";
  const char* fmu = "";
  double time = std::numeric_limits<double>::quiet_NaN();  ///< NaN before initialisation
};

/// The instance and the name of its function that is running; null outside of FMUs.
extern const FmuPlace* volatile running_place;
extern const char* volatile running_function;

/// Ends the process with exit code 1 and "concord: error: <reason>", and the FMU whose function is
/// running, if any. Allowed in signal handlers.
[[noreturn]] void end_at_once(const char* reason);

/// From here on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) within an FMU ends the process
/// with exit code 1 and a message that names subsystem, FMU, function and time; elsewhere signals
/// do what they did before.
void report_crashes_of_fmus();

}  // namespace concord

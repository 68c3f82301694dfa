#pragma once

namespace concord {

/// The FMU whose function is running, for the message when it crashes; null outside.
extern const char* volatile running_fmu;

/// From here on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) within an FMU ends the process
/// with exit code 1 and a message that names the FMU; elsewhere signals do what they did before.
void report_crashes_of_fmus();

}  // namespace concord

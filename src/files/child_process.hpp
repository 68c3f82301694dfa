#pragma once

#include <functional>
#include <string>
#include <vector>

namespace concord {

/// What a child process has told, record by record.
struct ChildReport {
  std::vector<std::string> records;
  bool ended = false;  ///< it came to its end, by its own account
  bool late = false;   ///< it was stopped after the time it had
};

/// Runs `work` in a child process, with no way back into the program, for so many seconds at most.
/// `work` gets a function that sends a record; whatever else it writes anywhere is no record. An
/// exception is the record "stopped <text>". Throws SimulationError where no child can be made.
ChildReport in_child_process(
    unsigned seconds,
    const std::function<void(const std::function<void(const std::string&)>&)>& work);

/// The numbers that `work` gives in a child process of its own: an FMU that can be instantiated
/// only once per process is fresh there. Throws SimulationError where it gives none.
std::vector<double> computed_apart(unsigned seconds,
                                   const std::function<std::vector<double>()>& work);

}  // namespace concord

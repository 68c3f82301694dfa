#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/results_content.hpp"

namespace concord {

/// What became of a results file.
struct RepairReport {
  Lengths whole;                    ///< what can be read of it
  std::string status;               ///< that it has now
  bool changed = false;             ///< it was written anew
  std::vector<std::string> lost;    ///< in words; empty: nothing
  std::filesystem::path kept_as{};  ///< the file as it was, where something is lost
};

/// Makes the results file at `path`, and its parts, readable as far as its rows are whole, and ends
/// its run as interrupted where it was not over; a sound one stays as it is. The file is written
/// anew, beside, and renamed. Throws InputError where it cannot be repaired, is written by a run,
/// or there is no room; nothing is changed then.
RepairReport repair_results(const std::filesystem::path& path);

}  // namespace concord

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "export/description_writer.hpp"
#include "subsystem/delay/delay_subsystem.hpp"
#include "subsystem/equations/equations_model.hpp"

namespace concord {

enum class ExportedBinary { leave_out, if_possible, required };

struct FmuExport {
  FmiVersion version = FmiVersion::v2;
  ExportedBinary binary = ExportedBinary::if_possible;
  ExportedExperiment experiment;
};

/// Writes a subsystem of equations as a source-code FMU for model exchange and co-simulation, with
/// a binary for this machine where wanted. Returns what the user should know, a line each.
/// Throws InputError: equations that are wrong, no compiler where one is required, an FMU that
/// cannot be written (then nothing is there).
std::vector<std::string> export_fmu(const EquationsDescription& description,
                                    const FmuExport& wanted, const std::filesystem::path& path);

/// A delay as an FMU of FMI 2.0 for co-simulation (delay_model); the same as above in all else.
std::vector<std::string> export_delay(const DelayDescription& delay, const FmuExport& wanted,
                                      const std::filesystem::path& path);

}  // namespace concord

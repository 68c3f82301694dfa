#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "subsystem/equations/equations_model.hpp"
#include "subsystem/fmu_export/description_writer.hpp"

namespace concord {

enum class ExportedBinary { leave_out, if_possible, required };

struct FmuExport {
  FmiVersion version = FmiVersion::v2;
  ExportedBinary binary = ExportedBinary::if_possible;
  ExportedExperiment experiment;
  UnitInBase unit_in_base;
};

/// Writes a subsystem of equations as a source-code FMU for model exchange and co-simulation, with
/// a binary for this machine where wanted. Returns what the user should know, a line each.
/// Throws InputError: equations that are wrong, no compiler where one is required, an FMU that
/// cannot be written (then nothing is there).
std::vector<std::string> export_fmu(const EquationsDescription& description,
                                    const FmuExport& wanted, const std::filesystem::path& path);

}  // namespace concord

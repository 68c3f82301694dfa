#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "export/fmu_export.hpp"

namespace concord {

/// What export-fmu and export-ssp are asked for on the command line.
struct ExportOptions {
  std::string model, subsystem;
  std::filesystem::path output;  ///< -o, or the default
  FmiVersion version = FmiVersion::v2;
  ExportedBinary binary = ExportedBinary::if_possible;
};

/// The words after `concord export-fmu` or `concord export-ssp`. Throws InputError.
ExportOptions parse_export_fmu(int argc, char** argv);
ExportOptions parse_export_ssp(int argc, char** argv);

}  // namespace concord

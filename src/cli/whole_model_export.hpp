#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "subsystem/fmu/description/model_description.hpp"

namespace concord {

/// What of a model is wanted as one FMU.
struct WantedWhole {
  std::string model;                 ///< its file
  std::vector<std::string> changes;  ///< "left.m=2"
  FmiVersion version = FmiVersion::v2;
  std::filesystem::path output;
  bool with_libraries = false;  ///< which its binary needs, beside it
};

/// Writes a whole model as an FMU with the solver inside, whose options are those of the database;
/// starts it once, from the files that go into the archive. Returns what the user should know.
/// Throws InputError, SimulationError; then nothing is written.
std::vector<std::string> export_whole_model(const WantedWhole& wanted);

}  // namespace concord

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// Where an FMU's entry stands: its folder, and the names that its numbers may use.
struct FmuSurroundings {
  const std::filesystem::path& folder;
  const Constants& constants;
};

/// A subsystem `fmu: file.fmu` with `parameters:` and `start:`; `changes` are those of the FMU.
/// Throws InputError.
SubsystemEntry fmu_entry(const std::string& name, const NodeReader& file,
                         const std::vector<Field>& parameters, const std::vector<Field>& start,
                         const ModelChanges& changes, const FmuSurroundings& around);

}  // namespace concord

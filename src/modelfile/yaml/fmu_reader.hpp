#pragma once

#include <string>
#include <vector>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// A subsystem `fmu: file.fmu` with `parameters:`, `start:` and `isolated:`; `changes` are those of
/// the FMU. Throws InputError.
SubsystemEntry fmu_entry(const std::string& name, const NodeReader& file,
                         const std::vector<Field>& parameters, const std::vector<Field>& start,
                         bool isolated, ChangesByOwner& changes, const Constants& constants);

}  // namespace concord

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// A subsystem `fmu: file.fmu` with `parameters:` and `start:`. Throws InputError.
SubsystemEntry fmu_entry(const std::string& name, const NodeReader& node,
                         const std::vector<Field>& fields, const std::filesystem::path& folder);

}  // namespace concord

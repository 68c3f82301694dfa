#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "modelfile/node_reader.hpp"
#include "network/model.hpp"
#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// A subsystem `fmu: file.fmu` with `parameters:` and `start:`. Throws InputError.
SubsystemEntry fmu_entry(const std::string& name, const NodeReader& node,
                         const std::vector<Field>& fields, const std::filesystem::path& folder);

/// The entry of an FMU, whoever asks for it. `request.options` is read here.
SubsystemEntry fmu_entry(FmuRequest request);

}  // namespace concord

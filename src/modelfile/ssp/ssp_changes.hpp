#pragma once

#include <filesystem>

#include "modelfile/changes/model_changes.hpp"

namespace concord {

/// Values from a parameter set of SSP (.ssv) whose parameters are called "subsystem.name". Throws
/// InputError.
ModelChanges read_ssv_changes(const std::filesystem::path& path);

}  // namespace concord

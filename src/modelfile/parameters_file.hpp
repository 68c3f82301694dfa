#pragma once

#include <filesystem>

#include "modelfile/changes/model_changes.hpp"

namespace concord {

/// Values of parameters and starts from a file: a parameter set of SSP (.ssv), YAML or CSV, told
/// apart by content and ending. Throws InputError.
ModelChanges read_parameters_file(const std::filesystem::path& path);

}  // namespace concord

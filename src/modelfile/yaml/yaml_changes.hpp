#pragma once

#include <filesystem>

#include "modelfile/changes/model_changes.hpp"

namespace concord {

/// Values from a YAML file: `ball: {e: 0.9}` or `ball.e: 0.9`, lists for arrays. Throws InputError.
ModelChanges read_yaml_changes(const std::filesystem::path& path);

}  // namespace concord

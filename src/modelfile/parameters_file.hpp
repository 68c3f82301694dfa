#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "modelfile/changes/model_changes.hpp"

namespace concord {

/// Values of parameters and starts from a file: a parameter set of SSP (.ssv), YAML or CSV, told
/// apart by content and ending. Throws InputError.
ModelChanges read_parameters_file(const std::filesystem::path& path);

/// Such a file in YAML, with every bit of the values; `what` they are is a comment.
std::string parameters_text(const std::string& what,
                            const std::vector<std::pair<std::string, double>>& values);

}  // namespace concord

#pragma once

#include <filesystem>

#include "network/model.hpp"

namespace concord {

/// Reads and completes a model, from YAML or an SSP by the file's name. Throws InputError.
Model read_model_file(const std::filesystem::path& path);

/// What follows from what was described, whoever has: constraints become subsystems with their
/// connections, aliases names, events ascend; units that mean nothing are noted. Throws InputError.
void complete(Model& model);

}  // namespace concord

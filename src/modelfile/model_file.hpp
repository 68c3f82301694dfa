#pragma once

#include <filesystem>

#include "modelfile/changes/model_changes.hpp"
#include "network/model.hpp"

namespace concord {

/// Reads and completes a model, from YAML or an SSP by the file's name, with other values of
/// parameters and starts than it says. Throws InputError.
Model read_model_file(const std::filesystem::path& path, const ModelChanges& changes = {});

/// What follows from what was described, whoever has: constraints become subsystems with their
/// connections, aliases names, whole arrays elements, events ascend; units that mean nothing are
/// noted. Throws InputError.
void complete(Model& model);

}  // namespace concord

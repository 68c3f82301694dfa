#pragma once

#include <filesystem>

#include "network/model.hpp"

namespace concord {

/// Reads a YAML model file. Every subsystem is read and its expressions are checked; whether the
/// names in connections and constraints exist is left to the network.
/// Throws InputError, whose text begins with "file:line: ".
Model read_model_file(const std::filesystem::path& path);

/// What follows from what was described, whoever has: constraints become subsystems with their
/// connections, aliases names, events ascend; units that mean nothing are noted. Throws InputError.
void complete(Model& model);

}  // namespace concord

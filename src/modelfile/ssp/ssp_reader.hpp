#pragma once

#include <filesystem>

#include "modelfile/changes/model_changes.hpp"
#include "network/model.hpp"

namespace concord {

/// Whether the path names an SSP archive (.ssp) or a system structure description (.ssd).
bool is_ssp(const std::filesystem::path& path);

/// Reads a system of SSP 1.0 or 2.0: components that are FMUs, nested systems (whose names go
/// before those of their elements: drive_motor), connections with linear transformations (applied
/// after the conversion of units), parameter sets and mappings, the default experiment.
///
/// Annotations and geometry are ignored; anything else that Concord does not support is an
/// InputError that names it. `changes` are values of components' variables.
Model read_ssp(const std::filesystem::path& path, const ModelChanges& changes = {});

}  // namespace concord

#pragma once

#include <filesystem>
#include <string>

#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// Reads one entry of `subsystems:`; `folder` is where the model file is. Constructs the
/// subsystem's model once, to learn its interface. Throws InputError.
SubsystemEntry read_subsystem(const std::string& name, const NodeReader& node,
                              const std::filesystem::path& folder);

}  // namespace concord

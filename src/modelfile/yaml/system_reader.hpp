#pragma once

#include <string>

#include "modelfile/yaml/subsystem_parts.hpp"

namespace concord {

/// Adds the subsystems of a system to the model, with its connections: "drive.motor" of `drive`.
/// Throws InputError.
void read_system(const std::string& name, const NodeReader& node, const SubsystemParts& parts,
                 const SubsystemSurroundings& around);

}  // namespace concord

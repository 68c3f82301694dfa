#pragma once

#include <string>

#include "modelfile/yaml/subsystem_parts.hpp"

namespace concord {

/// A subsystem of `remote:`. Throws InputError.
SubsystemEntry remote_entry(const std::string& name, const NodeReader& node, SubsystemParts parts,
                            const SubsystemSurroundings& around);

}  // namespace concord

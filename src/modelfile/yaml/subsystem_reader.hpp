#pragma once

#include "modelfile/yaml/subsystem_parts.hpp"

namespace concord {

/// Reads one entry of `subsystems:`, which is one subsystem, or with `repeat:` many of them:
/// name[1], name[2] ..., or the subsystems of a system, and adds them to the model. Constructs each
/// one's model once, to learn its interface. Throws InputError.
void read_subsystems(const Field& field, const SubsystemSurroundings& surroundings);

}  // namespace concord

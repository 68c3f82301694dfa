#pragma once

#include <filesystem>
#include <string>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/constants.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// What entries of `subsystems:` are read with.
struct SubsystemSurroundings {
  Constants constants;           ///< the model's parameters
  std::vector<Field> templates;  ///< by name
  ChangesByOwner& changes;
  ChangedFields& changed;
};

/// Reads one entry of `subsystems:`, which is one subsystem, or with `repeat:` many of them:
/// name[1], name[2] ... Constructs each one's model once, to learn its interface. Throws
/// InputError.
std::vector<SubsystemEntry> read_subsystems(const Field& field,
                                            const SubsystemSurroundings& surroundings);

}  // namespace concord

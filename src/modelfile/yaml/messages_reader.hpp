#pragma once

#include <string>

#include "modelfile/yaml/node_reader.hpp"
#include "modelfile/yaml/subsystem_parts.hpp"
#include "network/model.hpp"

namespace concord {

/// A subsystem with `messages`. Throws InputError.
SubsystemEntry messages_entry(const std::string& name, const NodeReader& node,
                              const SubsystemParts& parts);

}  // namespace concord

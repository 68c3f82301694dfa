#pragma once

#include <memory>
#include <string>

#include "modelfile/yaml/subsystem_parts.hpp"
#include "network/model.hpp"
#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// A subsystem whose parts have `equations:`. Throws InputError.
SubsystemEntry equations_entry(const std::string& name, const NodeReader& node,
                               const SubsystemParts& parts, const SubsystemSurroundings& around);

/// Of equations, whoever has written them.
SubsystemEntry equations_entry(std::shared_ptr<const EquationsDescription> description);

/// The same subsystem with other equations.
void describe_anew(SubsystemEntry& entry, std::shared_ptr<const EquationsDescription> description);

}  // namespace concord

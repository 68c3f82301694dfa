#pragma once

#include <string>

#include "modelfile/yaml/subsystem_parts.hpp"
#include "subsystem/remote/remote.hpp"

namespace concord {

/// The process that is named under `remote:`, before more is known. Throws InputError.
RemoteDescription read_connection(const std::string& name, const NodeReader& node,
                                  const SubsystemParts& parts);

/// Whether it is to be asked for all that it has.
bool is_whole(const SubsystemParts& parts);

/// A subsystem of `remote:` which is not. Throws InputError.
SubsystemEntry remote_entry(const std::string& name, const NodeReader& node, SubsystemParts parts,
                            const SubsystemSurroundings& around);

}  // namespace concord

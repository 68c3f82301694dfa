#pragma once

#include <string>

#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// A subsystem `table: {file: road.csv, ...}`, whose kinks and jumps are events. Throws InputError.
SubsystemEntry table_entry(const std::string& name, const NodeReader& node, const NodeReader& table,
                           const Constants& constants);

}  // namespace concord

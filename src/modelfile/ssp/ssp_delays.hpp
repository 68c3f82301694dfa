#pragma once

#include <string>

#include "network/model.hpp"

namespace concord {

/// A subsystem that is an FMU of a delay, as `concord export-ssp` writes it, becomes one of the
/// connections that leave it. It stays where nothing feeds it.
void put_delay_into_connections(const std::string& subsystem, Model& model);

}  // namespace concord

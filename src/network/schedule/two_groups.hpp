#pragma once

#include <optional>
#include <string>

#include "network/schedule/schedule.hpp"

namespace concord {

/// Two groups of subsystems that connections only lead across, as staggered grids need; or why
/// there are none.
struct TwoGroups {
  Groups groups;
  std::optional<std::string> problem;
};

/// The `given` groups where there are any; else by colouring the graph of connections, the first
/// subsystem in the first group.
TwoGroups two_groups(const Network& network, const Groups& given);

}  // namespace concord

#pragma once

#include "concord/api.hpp"

namespace concord {

/// The files that the caller of a host passes to it.
enum HostFile : int { host_memory = 3, host_order = 4 };

/// The whole program in which an isolated subsystem lives: answers the calls of the process that
/// has started it, whose id is the argument, and ends with it, however that ends.
CONCORD_API int subsystem_host(int argc, char** argv);

}  // namespace concord

#pragma once

#include "support/own_file.hpp"

namespace concord {

/// Both ends are closed in programs that are started. Throws SimulationError.
struct Pipe {
  Pipe();
  OwnFile reads, writes;
};

}  // namespace concord

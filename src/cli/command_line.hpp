#pragma once

#include "concord/api.hpp"

namespace concord {

/// The whole program `concord`: dispatches to the commands; returns the exit code.
CONCORD_API int command_line(int argc, char** argv);

}  // namespace concord

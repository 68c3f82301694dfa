#pragma once

namespace concord {

/// The whole program `concord`: dispatches to the commands; returns the exit code.
int command_line(int argc, char** argv);

}  // namespace concord

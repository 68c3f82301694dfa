#pragma once

#include <functional>

namespace concord {

/// Runs `action` in a child process first and says whether the child came through: false when it
/// crashed or hung. HDF5 1.10 does both on damaged files. `action` may throw (that is coming
/// through) and must not communicate. True also when no child can be made.
bool survives_trial(const std::function<void()>& action);

}  // namespace concord

#pragma once

namespace concord {

/// The options -subsystem_isolated and what belongs to it.
struct IsolationOptions {
  bool isolated = false;    ///< in a process of its own
  bool revive = true;       ///< goes on in a new one where that has died
  double call_limit = 0.0;  ///< s that one call may take; 0: any time
};

}  // namespace concord

#pragma once

namespace concord {

struct EquationsDescription;

/// Whether an event sets states, as that of a ball that bounces.
bool sets_states(const EquationsDescription& equations);

}  // namespace concord

#pragma once

namespace concord {

/// Two subsystems that feed each other; a.w is fed by nothing, b.k a parameter.
inline constexpr const char* pair = R"(name: pair
experiment: {start: 0, stop: 1}
subsystems:
  a:
    equations:
      inputs: {u: 0, w: 0}
      states: {x: 1}
      derivatives: {x: u - x + w}
      outputs: {y: x}
  b:
    equations:
      parameters: {k: 0.5}
      inputs: {u: 0}
      states: {x: 0.5}
      derivatives: {x: -2*u - k*x}
      outputs: {y: 0.5*x + 0.2*u}
connections: [b.y -> a.u, a.y -> b.u]
)";

}  // namespace concord

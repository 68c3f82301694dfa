#pragma once

namespace concord {

/// Of a system in SSP: what Concord's models say beyond components and connections. In it stands
/// one element <Network>, with
///
///     <Event time="0.5"/>
///     <Constraint unknown="force" start="0" equation="a.v - b.v"><Feed input="a.f" factor="-1"/>
///     <Initial equation="der(a.x) = 0"><Free name="a.x"/>
///     <Function name="drag" arguments="v">0.5*v*abs(v)</Function>
///
/// Names are "element.connector"; of an equation at the start, of the FMU's states, too.
constexpr const char* network_annotation = "concord.network";
constexpr const char* network_namespace = "urn:concord:network";

}  // namespace concord

#pragma once

namespace concord {

/// Parameters of the subsystem that is made for a StreamTarget, by which whoever lets it be set
/// plans that: s, the time from which its value is `goal`; and the sign, the other one each time,
/// with which it waits for that time.
inline constexpr const char *planned_time_name = "at", *planned_side_name = "side",
                            *planned_goal_name = "goal";

}  // namespace concord

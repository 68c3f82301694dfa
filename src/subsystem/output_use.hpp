#pragma once

namespace concord {

/// What Subsystem::note_use tells of an output that somebody looks at.
enum OutputUse : char { unused = 0, only_recorded = 1, feeds_somebody = 2 };

}  // namespace concord

#pragma once

#include <memory>

#include "subsystem/integrator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// The subsystem, advanced once over several macro-steps (multirate), for explicit methods.
///
/// Within such a window it waits: its outputs are extrapolated from those at the ends of its last
/// windows, with the order of the hold, its states stay. At the end it is advanced over the whole
/// window, with inputs that are cubics through their values at communication points; at the
/// window's very end, where it is not known yet, the input is what its hold makes of it. So the
/// order of an explicit method is kept: k + 1.
///
/// After the start and after time events the past is unknown: the first two windows are one
/// macro-step each, the next ones at most twice the one before. At time events and at the stop a
/// window ends early.
std::unique_ptr<Subsystem> in_slow_steps(std::unique_ptr<Subsystem> inner, const SlowSteps& slow);

}  // namespace concord

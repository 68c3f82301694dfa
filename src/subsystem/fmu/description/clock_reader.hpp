#pragma once

#include <functional>
#include <string>

#include "subsystem/fmu/description/clock.hpp"

namespace concord {

/// The clock of this name, whose attributes `attribute` gives as text; empty: not there. Throws
/// InputError where they contradict the standard so that nobody knows when it ticks; `where` is the
/// beginning of the message.
FmiClock read_clock(const std::function<std::string(const char*)>& attribute,
                    const std::string& name, const std::string& where);

}  // namespace concord

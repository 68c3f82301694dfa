#pragma once

#include <memory>

#include "subsystem/integrator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// A subsystem that a user has written in C++ or Python with time stepping of its own, under
/// `description`: its own but for its name, start values of inputs and capabilities that settings
/// withhold. Calls end as those of `watched` models do.
std::unique_ptr<Subsystem> watched(std::unique_ptr<Subsystem> subsystem, const char* what,
                                   SubsystemDescription description,
                                   const SubsystemSettings& settings);

}  // namespace concord

#pragma once

#include <string>

#include "export/whole_interface.hpp"
#include "subsystem/fmu/description/model_description.hpp"

namespace concord {

/// modelDescription.xml of an FMU of a whole model, for co-simulation (FMI 2.0.4, 2.2 and 4.3; FMI
/// 3.0.2, 2.4 and 4.3).
std::string whole_description(const WholeInterface& interface, FmiVersion version);

/// FMI's word for it.
const char* causality_of(WholeRole role);

}  // namespace concord

#pragma once

#include <string>

#include "export/model_source.hpp"
#include "export/whole_interface.hpp"

namespace concord {

/// documentation/index.html: equations, variables, and what the FMU does not do.
std::string documentation(const ExportedModel& model, FmiVersion version,
                          const ExportedExperiment& experiment);

/// The same of a whole model.
std::string documentation(const WholeInterface& interface, FmiVersion version);

}  // namespace concord

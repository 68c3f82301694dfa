#pragma once

#include <string>

#include "export/model_source.hpp"

namespace concord {

/// documentation/index.html: equations, variables, and what the FMU does not do.
std::string documentation(const ExportedModel& model, FmiVersion version,
                          const ExportedExperiment& experiment);

}  // namespace concord

#pragma once

#include <string>
#include <vector>

#include "export/model_source.hpp"
#include "subsystem/delay/delay_subsystem.hpp"

namespace concord {

/// A delay laid out as an FMU of FMI 2.0 for co-simulation: y(t) = u(t - delay), with the parameter
/// `delay` (s).
ExportedModel delay_model(const DelayDescription& delay);

/// Its C sources, as model_sources gives them.
std::vector<FmuFile> delay_sources(const ExportedModel& model, const ExportedExperiment& experiment,
                                   const std::string& token);

}  // namespace concord

#pragma once

#include <string>

#include "record/results_content.hpp"
#include "simulation/file_prints.hpp"
#include "simulation/simulation_plan.hpp"

namespace concord {

/// Where the results come from, on the first rank: model text, its files, and this run.
void add_provenance(const SimulationPlan& plan, std::vector<FilePrint> files,
                    const std::string& command_line, ResultsLayout& layout);

}  // namespace concord

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "network/model.hpp"

namespace concord {

/// Writes a model of FMUs as SSP 1.0: an archive with all FMUs (.ssp), or the description alone
/// with the paths of the FMUs (.ssd). In an archive, subsystems of equations become FMUs. Returns
/// what the user should know, a line each.
///
/// What SSP has no words for, times of events, constraints and equations at the start, stands in an
/// annotation that Concord reads (files/ssp_annotation.hpp).
///
/// Throws InputError for what SSP cannot say (native subsystems, values of arrays) and where the
/// file cannot be written (then nothing is there).
std::vector<std::string> write_ssp(const Model& model, const std::filesystem::path& path);

}  // namespace concord

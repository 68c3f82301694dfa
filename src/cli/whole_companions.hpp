#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "concord/simulation.hpp"
#include "network/model.hpp"

namespace concord {

/// Code of others in an FMU of a whole model lives in processes of its own, for which the archive
/// carries Concord's host of subsystems, its library, and for Python its package.
///
/// Options that make it so, beside those that are given. Throws InputError for types that are
/// compiled into a program.
Options with_isolation(const Model& model, Options given);

/// Saved states of FMUs were tried when `tried` was made: importers need no child processes for
/// that.
Options with_trials(const Model& model, const Model& tried, Options given);

/// Those files by their places below binaries/; none where nothing is isolated.
std::map<std::string, std::filesystem::path> companions_of(const Model& model);

/// The library's own folder of what belongs into FMUs of whole models. Throws InputError.
std::filesystem::path whole_model_folder();

}  // namespace concord

#pragma once

#include <span>
#include <string>
#include <vector>

#include "modelfile/yaml/constants.hpp"
#include "network/model.hpp"

namespace concord {

/// Adds the entries of `maps:` to the functions that are known; their files are added to `files`.
/// Throws InputError, also where a name is one of `parameters`.
void read_maps(const std::vector<Field>& fields, std::span<const std::string> parameters,
               Constants& known, std::vector<ModelFile>& files);

}  // namespace concord

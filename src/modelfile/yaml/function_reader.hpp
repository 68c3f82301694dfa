#pragma once

#include <span>
#include <string>
#include <vector>

#include "modelfile/yaml/constants.hpp"

namespace concord {

/// Adds the entries of a `functions:` to those that are known: `drag(v): 0.5*rho*v*abs(v)`. Bodies
/// may name what is known and `parameters`. Throws InputError.
void read_functions(const std::vector<Field>& fields, std::span<const std::string> parameters,
                    Constants& known);

/// Functions go on to mean by these names what they do, whatever else the names are to mean.
void keep_in_functions(std::span<const std::string> names, Constants& known);

}  // namespace concord

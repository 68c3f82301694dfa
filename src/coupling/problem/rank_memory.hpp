#pragma once

#include <cstddef>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Arrays with `parts` entries for each connected input, which lie one behind the other.
void pass_parts(Archive& archive, std::size_t parts, std::vector<double>& values);

/// What holds on a rank that has so many subsystems. Other ranks hold it where it did for each of
/// their subsystems.
void pass_own(Archive& archive, std::size_t subsystems, bool& holds);

}  // namespace concord

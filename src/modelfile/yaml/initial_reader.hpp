#pragma once

#include <string>
#include <vector>

#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// Adds equations at the start: `der(rod.T) = 0`, or `{equation: "cell[i].y = 1", free:
/// "cell[i].x", repeat: {i: [1, 9]}}`. `prefix`: of all names in them. Throws InputError.
void read_initial(const std::vector<NodeReader>& items, const Constants& constants,
                  const std::string& prefix, Model& model);

}  // namespace concord

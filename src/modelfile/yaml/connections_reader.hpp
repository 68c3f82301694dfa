#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"

namespace concord {

/// Whether `text` is "subsystem.variable"; variables of FMUs may have any characters but blanks.
bool is_variable_path(const std::string& text);

/// Adds connections: `a.y -> b.u`, `sum(a[*].y) -> b.u`, or `{connect: "a[i].y -> a[i+1].u",
/// repeat: {i: [1, 9]}, delay: 0.2, hold: zoh}`. `prefix`: of all names in them. Throws InputError.
void read_connections(const std::vector<NodeReader>& items, const Constants& constants,
                      const std::string& prefix, Model& model);

}  // namespace concord

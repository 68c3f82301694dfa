#pragma once

#include <string>
#include <vector>

#include "modelfile/yaml/node_reader.hpp"

namespace concord {

/// One round of `repeat: {i: [1, 1000]}`.
struct Repetition {
  std::string index;
  long value;
};

/// All rounds, ends included. Throws InputError.
std::vector<Repetition> repetitions(const NodeReader& node, const Constants& constants);

/// The text with expressions in brackets, which name the index, as whole numbers:
/// "cell[i+1].y[i,2]" to "cell[3].y[2,2]"; ':' and '*' stay. `place` is for error messages. Throws
/// InputError.
std::string with_index(const std::string& text, const Repetition& repetition,
                       const Constants& constants, const std::string& place);

}  // namespace concord

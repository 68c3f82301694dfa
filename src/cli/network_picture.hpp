#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/results_reader.hpp"

namespace concord {

struct RecordedConnection {
  std::size_t from = 0, to = 0;  ///< subsystems, in their recorded order
  std::string output, input;     ///< "left.x", "right.x_other"
  int loop = 0;                  ///< the algebraic loop it belongs to; 0: none
  std::string signal = {};       ///< the output's name within its subsystem
};

/// Empty where the results file holds none: it is older, or the network very large.
std::vector<RecordedConnection> recorded_connections(const ResultsReader& results);

}  // namespace concord

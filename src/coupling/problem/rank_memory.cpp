#include "coupling/problem/rank_memory.hpp"

#include <algorithm>

namespace concord {

void pass_parts(Archive& archive, std::size_t parts, std::vector<double>& values) {
  std::vector<double> part(values.size() / parts);
  for (std::size_t first = 0; first < parts; ++first) {
    for (std::size_t j = 0; j < part.size(); ++j) {
      part[j] = values[j * parts + first];
    }
    archive.per(Per::connected, std::span<double>(part));
    for (std::size_t j = 0; j < part.size(); ++j) {
      values[j * parts + first] = part[j];
    }
  }
}

void pass_own(Archive& archive, std::size_t subsystems, bool& holds) {
  std::vector<char> each(subsystems, holds ? 1 : 0);
  archive.per(Per::subsystem, std::span<char>(each));
  holds = std::find(each.begin(), each.end(), 0) == each.end();
}

}  // namespace concord

#include "cli/network_picture.hpp"

#include <algorithm>
#include <map>

namespace concord {
namespace {

using Positions = std::map<std::string, std::size_t>;

/// Names of both may have dots.
Positions::const_iterator owner_of(const std::string& variable, const Positions& subsystems) {
  auto found = subsystems.end();
  for (std::size_t dot = variable.rfind('.');
       found == subsystems.end() && dot != variable.npos && dot > 0;
       dot = variable.rfind('.', dot - 1))
    found = subsystems.find(variable.substr(0, dot));
  return found;
}

}  // namespace

std::vector<RecordedConnection> recorded_connections(const ResultsReader& results) {
  Positions position;
  const auto names = results.texts("/subsystems/name");
  for (std::size_t k = 0; k < names.size(); ++k) position.emplace(names[k], k);
  const auto outputs = results.texts("/network/output"), inputs = results.texts("/network/input");
  const auto loops = results.numbers("/network/loop");
  std::vector<RecordedConnection> connections;
  for (std::size_t i = 0; i < std::min({outputs.size(), inputs.size(), loops.size()}); ++i) {
    const auto from = owner_of(outputs[i], position), to = owner_of(inputs[i], position);
    if (from == position.end() || to == position.end()) continue;
    connections.push_back({from->second, to->second, outputs[i], inputs[i],
                           static_cast<int>(loops[i]), outputs[i].substr(from->first.size() + 1)});
  }
  return connections;
}

}  // namespace concord

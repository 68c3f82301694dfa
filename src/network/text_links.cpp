#include "network/text_links.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "network/model.hpp"
#include "subsystem/text_ports.hpp"

namespace concord {
namespace {

using Ends = std::unordered_map<std::string, TextEnd>;

Ends ends_in(const Model& model, std::vector<TextVariable> TextInterface::*side) {
  Ends result;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (!entry.type->texts) continue;
    const auto& variables = entry.type->texts.get()->*side;
    for (std::size_t i = 0; i < variables.size(); ++i)
      result.emplace(entry.description.name + "." + variables[i].name, TextEnd{k, i});
  }
  return result;
}

}  // namespace

bool has_texts(const Model& model) {
  return std::ranges::any_of(
      model.subsystems, [](const SubsystemEntry& entry) { return entry.type->texts != nullptr; });
}

std::vector<TextLink> text_links(const Model& model) {
  std::vector<TextLink> result;
  if (model.text_connections.empty()) return result;
  const Ends outputs = ends_in(model, &TextInterface::outputs);
  const Ends inputs = ends_in(model, &TextInterface::inputs);
  for (const ConnectionEntry& connection : model.text_connections)
    result.push_back({outputs.at(connection.from), inputs.at(connection.to)});
  return result;
}

}  // namespace concord

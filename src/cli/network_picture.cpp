#include "cli/network_picture.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "cli/drawing.hpp"
#include "cli/picture.hpp"
#include "concord/errors.hpp"

namespace concord {
namespace {

constexpr std::size_t most_subsystems = 1000, most_signals_at_an_arrow = 4;
// Beyond, layers are neither clear nor quick.
constexpr std::size_t most_in_layers = 40, most_arrows_in_layers = 150;
// Beyond, arrows go straight, behind boxes, too.
constexpr std::size_t most_around_boxes = 200;

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

/// What goes from one subsystem to another.
struct Arrow {
  std::vector<std::string> signals;
  int loop = 0;
};

std::map<std::pair<std::size_t, std::size_t>, Arrow> arrows_of(
    const std::vector<RecordedConnection>& connections) {
  std::map<std::pair<std::size_t, std::size_t>, Arrow> arrows;
  for (const RecordedConnection& connection : connections) {
    Arrow& arrow = arrows[{connection.from, connection.to}];
    const std::string& signal = connection.signal;
    if (std::find(arrow.signals.begin(), arrow.signals.end(), signal) == arrow.signals.end())
      arrow.signals.push_back(signal);
    arrow.loop = std::max(arrow.loop, connection.loop);
  }
  return arrows;
}

std::string arrow_label(const std::vector<std::string>& signals) {
  std::string label;
  for (std::size_t i = 0; i < std::min(signals.size(), most_signals_at_an_arrow); ++i)
    label += (i == 0 ? "" : ", ") + signals[i];
  if (signals.size() > most_signals_at_an_arrow)
    label += " and " + std::to_string(signals.size() - most_signals_at_an_arrow) + " more";
  return label;
}

/// "cell[*]" of cell[7] and cell[3,4].
std::string without_indices(const std::string& name) {
  std::string text;
  bool inside = false;
  for (const char c : name) {
    if (c == ']') inside = false;
    if (!inside) text += c;
    if (c == '[') {
      text += '*';
      inside = true;
    }
  }
  return text;
}

/// A box of the picture: a subsystem, or all that are repeated under one name.
struct Box {
  std::string name;
  std::vector<std::size_t> subsystems;
};

struct Boxes {
  std::vector<Box> boxes;
  std::vector<std::size_t> of;  ///< each subsystem's
};

/// Repeated ones are one box where there are more subsystems than layers can show.
Boxes boxes_of(const std::vector<std::string>& names) {
  const bool folds = names.size() > most_in_layers;
  Boxes result;
  Positions position;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string name = folds ? without_indices(names[k]) : names[k];
    const auto [found, added] = position.try_emplace(name, result.boxes.size());
    if (added) result.boxes.push_back({name, {}});
    result.boxes[found->second].subsystems.push_back(k);
    result.of.push_back(found->second);
  }
  for (Box& box : result.boxes)
    if (box.subsystems.size() == 1) box.name = names[box.subsystems.front()];
  return result;
}

/// One line per box.
std::string graph_nodes(const ResultsReader& results, const std::vector<Box>& boxes) {
  const auto kinds = results.texts("/subsystems/kind");
  const auto ranks = results.numbers("/subsystems/rank");
  const bool coloured = results.number("ranks") > 1.0;
  const bool one_kind =
      std::adjacent_find(kinds.begin(), kinds.end(), std::not_equal_to<>()) == kinds.end();
  std::string lines;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto& members = boxes[b].subsystems;
    const std::size_t k = members.front();
    std::string label = boxes[b].name;
    const bool tells_kind = k < kinds.size() && !(one_kind && boxes.size() > most_in_layers);
    if (members.size() > 1)
      label += "\n" + std::to_string(members.size()) + " x " + kinds[k];
    else if (tells_kind)
      label += "\n" + kinds[k];
    std::string looks = members.size() > 1 ? ", peripheries=2" : "";
    if (coloured && k < ranks.size()) {
      const bool one_rank =
          std::ranges::all_of(members, [&](std::size_t m) { return ranks[m] == ranks[k]; });
      const auto rank = static_cast<std::size_t>(std::max(0.0, ranks[k]));
      label += one_rank ? ", rank " + std::to_string(rank) : ", several ranks";
      if (one_rank) looks += std::string(", color=\"") + curve_colour(rank) + "\"";
    }
    lines += "  s" + std::to_string(b) + " [label=" + graphviz_quoted(label) + looks + "];\n";
  }
  return lines;
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

std::string network_graph(const ResultsReader& results, const std::string& title) {
  const auto names = results.texts("/subsystems/name");
  const std::string file = "'" + results.path().string() + "'";
  if (names.size() > most_subsystems && boxes_of(names).boxes.size() > most_subsystems)
    throw InputError(file + " has " + std::to_string(names.size()) +
                     " subsystems; a picture shows at most " + std::to_string(most_subsystems) +
                     ": 'concord check MODEL -v' lists all connections");
  auto connections = recorded_connections(results);
  if (connections.empty() && names.size() > 1)
    throw InputError(file + " holds no connections: was it written by an older version?");
  const Boxes folded = boxes_of(names);
  for (RecordedConnection& connection : connections) {
    connection.from = folded.of[connection.from];
    connection.to = folded.of[connection.to];
  }
  const auto arrows = arrows_of(connections);
  const bool layers =
      folded.boxes.size() <= most_in_layers && arrows.size() <= most_arrows_in_layers;
  std::string graph =
      "digraph {\n  graph [fontname=\"sans-serif\", labelloc=t, fontsize=16, pad=0.2, label=" +
      graphviz_quoted(title) +
      (layers ? ", rankdir=LR, nodesep=0.35, ranksep=0.7"
       : folded.boxes.size() <= most_around_boxes
           ? ", layout=sfdp, overlap=prism, sep=\"+10\", splines=true"
           : ", layout=sfdp, overlap=prism, splines=line") +
      "];\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=12, penwidth=1.5, "
      "color=\"#6a717c\"];\n  edge [fontname=\"sans-serif\", fontsize=10, color=\"#6a717c\"];\n" +
      graph_nodes(results, folded.boxes);
  for (const auto& [ends, arrow] : arrows)
    graph += "  s" + std::to_string(ends.first) + " -> s" + std::to_string(ends.second) +
             " [label=" + graphviz_quoted(layers ? arrow_label(arrow.signals) : "") +
             (arrow.loop > 0 ? ", color=\"#b3261e\", fontcolor=\"#b3261e\", penwidth=1.5" : "") +
             "];\n";
  return graph + "}\n";
}

}  // namespace concord

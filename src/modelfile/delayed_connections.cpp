#include "modelfile/delayed_connections.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "subsystem/delay/delay_subsystem.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What delays ask about the model, by names.
struct ModelNames {
  std::set<std::string> subsystems, inputs;
  std::unordered_map<std::string, OutputVariable> outputs;
  std::unordered_map<std::string, int> feeders;  ///< of each input
};

ModelNames names_of(const Model& model) {
  ModelNames index;
  for (const auto& entry : model.subsystems) {
    const auto& d = entry.description;
    index.subsystems.insert(d.name);
    for (const auto& output : d.outputs) {
      index.outputs.emplace(d.name + "." + output.name, output);
    }
    for (const auto& input : d.inputs) {
      index.inputs.insert(d.name + "." + input.name);
    }
  }
  for (const auto& connection : model.connections) {
    ++index.feeders[connection.to];
  }
  return index;
}

/// "delay_b_u" of what leads to b.u.
std::string free_name(const std::string& input, std::set<std::string>& taken) {
  std::string name = "delay_" + input;
  std::replace(name.begin(), name.end(), '.', '_');
  while (!taken.insert(name).second) {
    name += '_';
  }
  return name;
}

SubsystemEntry entry_of(const DelayDescription& delay, const Location& location) {
  SubsystemEntry entry;
  entry.description = describe_delay(delay);
  entry.location = location;
  entry.type.own().identity = "a delay of " + exact_number(delay.delay) + " s";
  entry.type.own().delay = std::make_shared<const DelayDescription>(delay);
  entry.type.own().create = [delay](const SubsystemEntry&, const SubsystemSettings&) {
    return make_delay(delay);
  };
  return entry;
}

}  // namespace

void connect_delays(Model& model) {
  const auto late = [](const ConnectionEntry& connection) { return connection.delay != 0.0; };
  if (std::ranges::none_of(model.connections, late)) return;
  ModelNames index = names_of(model);
  std::vector<ConnectionEntry> lead_there;
  model.connections.change([&](ConnectionEntry& connection) {
    const auto source = index.outputs.find(connection.from);
    if (connection.delay == 0.0 || source == index.outputs.end() ||
        !index.inputs.contains(connection.to) || index.feeders.at(connection.to) > 1) {
      return;
    }
    const DelayDescription delay{free_name(connection.to, index.subsystems), connection.delay,
                                 connection.from, connection.to, source->second};
    model.subsystems.push_back(entry_of(delay, connection.location));
    lead_there.push_back(
        {connection.from, delay.name + "." + delay_input_name, connection.location});
    connection.from = delay.name + "." + delay_output_name;
  });
  for (const ConnectionEntry& connection : lead_there) model.connections.push_back(connection);
}

}  // namespace concord

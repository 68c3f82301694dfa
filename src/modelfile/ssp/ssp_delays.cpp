#include "modelfile/ssp/ssp_delays.hpp"

#include <algorithm>
#include <utility>

#include "subsystem/delay/delay_subsystem.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"

namespace concord {

void put_delay_into_connections(const std::string& subsystem, Model& model) {
  const auto entry = std::ranges::find_if(model.subsystems, [&](const SubsystemEntry& each) {
    return each.description.name == subsystem;
  });
  const auto feed = std::ranges::find_if(model.connections, [&](const ConnectionEntry& each) {
    return each.to == subsystem + "." + delay_input_name;
  });
  const auto& starts = entry->type->fmu->starts;
  const auto delay = std::ranges::find_if(
      starts, [](const FmuStart& start) { return start.variable->name == delay_parameter_name; });
  if (delay == starts.end() || feed == model.connections.end()) return;
  const double seconds = parse_number(delay->texts.front()).value_or(0.0);
  const ConnectionEntry leads_there = *feed;
  bool erased = false;
  model.connections.erase_if([&](const ConnectionEntry& connection) {
    return connection.to == leads_there.to && !std::exchange(erased, true);
  });
  model.connections.change([&](ConnectionEntry& connection) {
    if (connection.from != subsystem + "." + delay_output_name) return;
    connection.from = leads_there.from;
    connection.offset += connection.factor * leads_there.offset;
    connection.factor *= leads_there.factor;
    connection.converts_units = connection.converts_units && leads_there.converts_units;
    connection.delay += seconds;
  });
  model.subsystems.erase(entry);
}

}  // namespace concord

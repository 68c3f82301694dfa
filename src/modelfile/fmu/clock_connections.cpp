#include "modelfile/fmu/clock_connections.hpp"

#include <set>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/messages/messages.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using ClockNames = std::set<std::string>;

/// What calls networks of messages, and what they call by: a clock, or a number that counts.
ClockNames calls_in(const Model& model) {
  ClockNames result;
  for (const SubsystemEntry& entry : model.subsystems)
    if (entry.type->messages)
      for (const std::string& name : clocks_of(*entry.type->messages))
        result.insert(entry.description.name + "." + name);
  return result;
}

/// "a.tick", of all FMUs: clocks that travel, and the others, which Concord lets tick.
std::pair<ClockNames, ClockNames> clocks_in(const Model& model) {
  ClockNames travelling, own;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!entry.type->fmu) continue;
    for (const FmiVariable& variable : entry.type->fmu->model->variables)
      if (variable.clock)
        (puts_out_ticks(variable) || takes_ticks(variable) ? travelling : own)
            .insert(entry.description.name + "." + variable.name);
  }
  return {travelling, own};
}

[[noreturn]] void refuse_connection(const ConnectionEntry& connection, const std::string& problem) {
  throw InputError(connection.location + ": " + connection.from + " -> " + connection.to + ": " +
                   problem);
}

void check_connection(const ConnectionEntry& connection, const ClockNames& travelling,
                      const ClockNames& own, const ClockNames& calls) {
  for (const std::string& end : {connection.from, connection.to})
    if (own.contains(end))
      refuse_connection(connection,
                        in_quotes(end) +
                            " is a clock whose instants its FMU says; output clocks, and input "
                            "clocks that are triggered, are connected");
  const bool from = travelling.contains(connection.from), to = travelling.contains(connection.to);
  if (!from && !to) return;
  if (from != to && !calls.contains(from ? connection.to : connection.from))
    refuse_connection(connection, in_quotes(from ? connection.from : connection.to) +
                                      " is a clock and " +
                                      in_quotes(from ? connection.to : connection.from) +
                                      " is none; connect a clock with a clock");
  if (connection.factor != 1.0 || connection.offset != 0.0)
    refuse_connection(connection, "clocks tick or don't; leave out what is calculated with them");
}

/// What constraints and sums feed is no clock.
void check_other_feeds(const Model& model, const ClockNames& travelling) {
  for (const ConstraintEntry& constraint : model.constraints)
    for (const ConstraintFeed& feed : constraint.feeds)
      if (travelling.contains(feed.input))
        throw InputError(feed.location + ": " + in_quotes(feed.input) +
                         " is a clock, which no constraint feeds; connect it with a clock");
}

}  // namespace

void check_clocks(Model& model) {
  const auto [travelling, own] = clocks_in(model);
  if (travelling.empty() && own.empty()) return;
  const ClockNames calls = calls_in(model);
  ClockNames fed;
  for (const ConnectionEntry& connection : model.connections) {
    check_connection(connection, travelling, own, calls);
    fed.insert(connection.to);
  }
  check_other_feeds(model, travelling);
  for (SubsystemEntry& entry : model.subsystems) {
    if (!entry.type->fmu) continue;
    for (const InputVariable& input : entry.description.inputs.all()) {
      const std::string name = entry.description.name + "." + input.name;
      if (travelling.contains(name) && !fed.contains(name))
        entry.description.remarks.push_back("clock " + in_quotes(input.name) +
                                            " never ticks: nothing is connected with it");
    }
  }
}

}  // namespace concord

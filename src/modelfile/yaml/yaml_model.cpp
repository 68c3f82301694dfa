#include "modelfile/yaml/yaml_model.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "concord/errors.hpp"
#include "modelfile/yaml/constants.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/model_text.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "modelfile/yaml/subsystem_reader.hpp"
#include "network/schedule/schedule.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

std::string read_line(const NodeReader& node) {
  std::string text = node.text();
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; })) {
    node.fail("must be one line of text, not " + in_quotes(text));
  }
  return text;
}

void read_experiment(const NodeReader& node, const Constants& constants, Model& model) {
  const Fields fields = node.fields_among(experiment_keys);
  const NodeReader stop = field_of(fields, "stop");
  model.stop = stop.number(constants);
  model.stop_location = stop.location();
  const auto start = find_field(fields, "start");
  model.start = start ? start->number(constants) : 0.0;
  model.start_location = start ? start->location() : node.location();
}

void read_all_subsystems(const ModelText& text, const SubsystemSurroundings& around, Model& model) {
  const NodeReader some = text.required("subsystems", "subsystems: with one entry each");
  std::vector<std::string> owners = {whole_model};
  for (const Field& field : text.entries("subsystems", "subsystem")) {
    for (SubsystemEntry& entry : read_subsystems(field, around)) {
      owners.push_back(entry.description.name);
      model.subsystems.push_back(std::move(entry));
    }
  }
  if (model.subsystems.empty()) {
    some.fail("must name at least one subsystem");
  }
  around.changes.refuse_others(owners);
}

/// `parameters:` of the whole model, and changes of these.
Constants read_model_parameters(const ModelText& text, ChangesByOwner& changes,
                                ChangedFields& changed) {
  Fields parameters = text.entries("parameters", "parameter");
  std::vector<std::string> names;
  for (const Field& parameter : parameters) {
    names.push_back(parameter.key);
    refuse_taken_name(parameter);
  }
  for (const Field& change : changed.of(changes.of(whole_model, names), "the model")) {
    if (std::find(names.begin(), names.end(), change.key) == names.end()) {
      throw InputError(change.key_location + ": the model has no parameter " +
                       in_quotes(change.key) + "; " + known("parameters", change.key, names));
    }
    parameters = merged(std::move(parameters), {change});
  }
  return resolved(parameters, {});
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// "cell", "cell[3]", "cell[:]".
bool is_subsystem_name(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == ':'; };
  const bool indexed =
      bracket != std::string_view::npos && text.size() > bracket + 2 && text.back() == ']' &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(bracket) + 1, text.end() - 1, digit);
  return is_name(text.substr(0, bracket)) && (bracket == std::string_view::npos || indexed);
}

/// Whether `text` is "subsystem.variable"; variables of FMUs may have any characters but blanks.
bool is_variable_path(const std::string& text) {
  const std::size_t dot = text.find('.');
  return dot != std::string::npos && is_subsystem_name(std::string_view(text).substr(0, dot)) &&
         dot + 1 < text.size() && text.find_first_of(" \t\r\n") == std::string::npos;
}

void read_connection(const std::string& text, const NodeReader& item, ConnectionEntry entry,
                     Model& model) {
  const std::size_t arrow = text.find("->");
  const std::string from = trimmed(text.substr(0, arrow));
  const std::string to = arrow == std::string::npos ? "" : trimmed(text.substr(arrow + 2));
  if (!is_variable_path(from) || !is_variable_path(to)) {
    item.fail("must read 'subsystem.output -> subsystem.input', not " + in_quotes(text));
  }
  entry.from = from;
  entry.to = to;
  entry.location = item.location();
  model.connections.push_back(std::move(entry));
}

/// `delay: 0.2`, s.
double read_delay(const std::optional<NodeReader>& node, const Constants& constants) {
  const double delay = node ? node->number(constants) : 0.0;
  if (delay < 0.0) {
    node->fail("must not be negative, but is " + short_number(delay) +
               " s; what is put out later cannot arrive");
  }
  return delay;
}

bool read_hold(const std::optional<NodeReader>& node) {
  if (node && node->text() != "zoh") {
    node->fail("must be zoh, not " + in_quotes(node->text()) +
               "; other holds are those of the method, -cosim_hold");
  }
  return node.has_value();
}

/// `a.y -> b.u`, or `{connect: "a[i].y -> a[i+1].u", repeat: {i: [1, 9]}, delay: 0.2, hold: zoh}`.
void read_connections(const ModelText& text, const Constants& constants, Model& model) {
  for (const NodeReader& item : text.items("connections", "connection")) {
    if (!item.is_map() || !find_field(item.fields("", item.what()), "connect")) {
      read_connection(item.text(), item, {}, model);
      continue;
    }
    const Fields fields = item.fields_among(connection_keys);
    const NodeReader connect = field_of(fields, "connect");
    const auto repeat = find_field(fields, "repeat"), delay = find_field(fields, "delay");
    ConnectionEntry how;
    how.held = read_hold(find_field(fields, "hold"));
    if (!repeat) {
      how.delay = read_delay(delay, constants);
      read_connection(connect.text(), connect, how, model);
      continue;
    }
    for (const Repetition& each : repetitions(*repeat, constants)) {
      Constants with_round = constants;
      with_round[each.index] = static_cast<double>(each.value);
      how.delay = read_delay(delay, with_round);
      read_connection(with_index(connect.text(), each, constants, connect.location()), connect, how,
                      model);
    }
  }
}

std::vector<ConstraintFeed> read_feeds(const NodeReader& node, const Constants& constants) {
  std::vector<ConstraintFeed> feeds;
  for (const Field& field : node.fields("factor of", "")) {
    if (!is_variable_path(field.key)) {
      throw InputError(field.key_location + ": " + node.what() +
                       " must name inputs as 'subsystem.input', not " + in_quotes(field.key));
    }
    feeds.push_back({field.key, field.value.number(constants), field.key_location});
  }
  if (feeds.empty()) {
    node.fail("must name at least one input: 'subsystem.input: factor'");
  }
  return feeds;
}

ConstraintEntry read_constraint(const NodeReader& node, const Constants& constants) {
  const Fields fields = node.fields_among(constraint_keys);
  ConstraintEntry entry;
  entry.location = node.location();
  const NodeReader unknown = field_of(fields, "unknown");
  entry.unknown = unknown.text();
  if (!is_name(entry.unknown)) {
    unknown.fail("must be a name (letters, digits and _, not starting with a digit), not " +
                 in_quotes(entry.unknown));
  }
  const NodeReader equation = field_of(fields, "equation");
  entry.equation = equation.text();
  entry.equation_location = equation.location();
  entry.constants = constants;
  entry.feeds = read_feeds(field_of(fields, "feeds"), constants);
  const auto start = find_field(fields, "start");
  entry.start = start ? start->number(constants) : 0.0;
  return entry;
}

/// `groups: [[a, b], [c]]`
void read_schedule(const NodeReader& node, Model& model) {
  const Fields fields = node.fields_among(schedule_keys);
  const NodeReader groups = field_of(fields, "groups");
  model.groups_location = groups.location();
  for (const NodeReader& group : groups.items("group")) {
    model.groups.emplace_back();
    for (const NodeReader& member : group.items("subsystem")) {
      model.groups.back().push_back({member.text(), member.location()});
    }
    if (model.groups.back().empty()) {
      group.fail("must name at least one subsystem");
    }
  }
  if (model.groups.empty()) {
    groups.fail("must have at least one group");
  }
  given_groups(model);
}

}  // namespace

Model read_yaml_model(const ModelText& text, const ModelChanges& changes) {
  Model model;
  model.source = text.source();
  model.text = text.source();
  for (const std::string& source : text.sources()) {
    model.files.push_back({model.files.empty() ? "model file" : "included file", source});
  }
  ChangedFields changed;
  ChangesByOwner by_owner(changes);
  const Constants constants = read_model_parameters(text, by_owner, changed);
  const auto name = text.find("name");
  model.name = name ? read_line(*name) : std::filesystem::path(text.source()).stem().string();
  read_experiment(text.required("experiment", "experiment: {start: 0.0, stop: 1.0}"), constants,
                  model);
  read_all_subsystems(text, {constants, text.entries("templates", "template"), by_owner, changed},
                      model);
  read_connections(text, constants, model);
  for (const NodeReader& item : text.items("constraints", "constraint")) {
    model.constraints.push_back(read_constraint(item, constants));
  }
  if (const auto schedule = text.find("schedule")) {
    read_schedule(*schedule, model);
  }
  for (const NodeReader& item : text.items("events", "event")) {
    model.events.push_back(item.number(constants));
  }
  return model;
}

}  // namespace concord

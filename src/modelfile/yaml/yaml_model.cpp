#include "modelfile/yaml/yaml_model.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "concord/errors.hpp"
#include "modelfile/yaml/connections_reader.hpp"
#include "modelfile/yaml/constants.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/initial_reader.hpp"
#include "modelfile/yaml/map_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/model_text.hpp"
#include "modelfile/yaml/node_reader.hpp"
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
    read_subsystems(field, around);
  }
  for (const SystemEntry& system : model.systems) {
    owners.push_back(system.name);
  }
  for (const SubsystemEntry& entry : model.subsystems) {
    owners.push_back(entry.description.name);
  }
  if (model.subsystems.empty()) {
    some.fail("must name at least one subsystem");
  }
  around.changes.refuse_others(owners);
}

/// `parameters:` of the whole model, changes of these, `maps:` and `functions:`.
Constants read_model_parameters(const ModelText& text, ChangesByOwner& changes,
                                ChangedFields& changed, std::vector<ModelFile>& files) {
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
  Constants known;
  read_maps(text.entries("maps", "map"), names, known, files);
  read_functions(text.loose_entries("functions", "function"), names, known);
  return resolved(parameters, known);
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
  entry.constants = constants.values;
  entry.functions = constants.functions;
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
  const Constants constants = read_model_parameters(text, by_owner, changed, model.files);
  for (const Field& parameter : text.entries("parameters", "parameter"))
    model.parameters[parameter.key] = constants.values.at(parameter.key);
  const auto name = text.find("name");
  model.name = name ? read_line(*name) : std::filesystem::path(text.source()).stem().string();
  read_experiment(text.required("experiment", "experiment: {start: 0.0, stop: 1.0}"), constants,
                  model);
  read_all_subsystems(
      text, {constants, text.entries("templates", "template"), by_owner, changed, text, model},
      model);
  read_connections(text.items("connections", "connection"), constants, "", model);
  for (const NodeReader& item : text.items("constraints", "constraint")) {
    model.constraints.push_back(read_constraint(item, constants));
  }
  read_initial(text.items("initial", "initial equation"), constants, "", model);
  if (const auto schedule = text.find("schedule")) {
    read_schedule(*schedule, model);
  }
  for (const NodeReader& item : text.items("events", "event")) {
    model.events.push_back(item.number(constants));
  }
  model.subsystems.shrink_to_fit();
  model.connections.shrink_to_fit();
  return model;
}

}  // namespace concord

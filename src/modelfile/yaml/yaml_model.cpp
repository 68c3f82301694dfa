#include "modelfile/yaml/yaml_model.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <system_error>

#include "concord/errors.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "modelfile/yaml/subsystem_reader.hpp"
#include "modelfile/yaml/yaml_tree.hpp"
#include "network/schedule/schedule.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

std::string read_text(const std::filesystem::path& path) {
  const std::string source = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(source + ": there is no such file; give the path of a model file (YAML)");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(source + ": this is a folder; give the path of a model file (YAML)");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(source + ": this is not a regular file; give the path of a model file (YAML)");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    throw InputError(source + ": cannot be read: " + std::strerror(errno));
  }
  return text;
}

NodeReader required(const NodeReader& node, const Fields& fields, const char* key,
                    const std::string& remedy) {
  const auto found = find_field(fields, key);
  if (!found) {
    node.fail("lacks '" + std::string(key) + "'; add " + remedy);
  }
  return *found;
}

std::string read_line(const NodeReader& node) {
  std::string text = node.text();
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; })) {
    node.fail("must be one line of text, not " + in_quotes(text));
  }
  return text;
}

void read_experiment(const NodeReader& node, Model& model) {
  const Fields fields = node.fields_among({"start", "stop"});
  const NodeReader stop = required(node, fields, "stop", "stop: <end time in seconds>");
  model.stop = stop.number();
  model.stop_location = stop.location();
  const auto start = find_field(fields, "start");
  model.start = start ? start->number() : 0.0;
  model.start_location = start ? start->location() : node.location();
}

void read_subsystems(const NodeReader& node, const std::filesystem::path& folder, Model& model) {
  for (const Field& field : node.named_fields("subsystem", "")) {
    model.subsystems.push_back(read_subsystem(field.key, field.value, folder));
    model.subsystems.back().location = field.key_location;
  }
  if (model.subsystems.empty()) {
    node.fail("must name at least one subsystem");
  }
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Whether `text` is "subsystem.variable"; variables of FMUs may have any characters but blanks.
bool is_variable_path(const std::string& text) {
  const std::size_t dot = text.find('.');
  return dot != std::string::npos && is_name(std::string_view(text).substr(0, dot)) &&
         dot + 1 < text.size() && text.find_first_of(" \t\r\n") == std::string::npos;
}

void read_connections(const NodeReader& node, Model& model) {
  if (node.is_null()) {
    return;
  }
  for (const NodeReader& item : node.items("connection")) {
    const std::string text = item.text();
    const std::size_t arrow = text.find("->");
    const std::string from = trimmed(text.substr(0, arrow));
    const std::string to = arrow == std::string::npos ? "" : trimmed(text.substr(arrow + 2));
    if (!is_variable_path(from) || !is_variable_path(to)) {
      item.fail("must read 'subsystem.output -> subsystem.input', not " + in_quotes(text));
    }
    model.connections.push_back({from, to, item.location()});
  }
}

std::vector<ConstraintFeed> read_feeds(const NodeReader& node) {
  std::vector<ConstraintFeed> feeds;
  for (const Field& field : node.fields("factor of", "")) {
    if (!is_variable_path(field.key)) {
      throw InputError(field.key_location + ": " + node.what() +
                       " must name inputs as 'subsystem.input', not " + in_quotes(field.key));
    }
    feeds.push_back({field.key, field.value.number(), field.key_location});
  }
  if (feeds.empty()) {
    node.fail("must name at least one input: 'subsystem.input: factor'");
  }
  return feeds;
}

ConstraintEntry read_constraint(const NodeReader& node) {
  const Fields fields = node.fields_among({"unknown", "start", "equation", "feeds"});
  ConstraintEntry entry;
  entry.location = node.location();
  const NodeReader unknown = required(node, fields, "unknown", "unknown: <name>");
  entry.unknown = unknown.text();
  if (!is_name(entry.unknown)) {
    unknown.fail("must be a name (letters, digits and _, not starting with a digit), not " +
                 in_quotes(entry.unknown));
  }
  const NodeReader equation =
      required(node, fields, "equation", "equation: <expression to be kept at zero>");
  entry.equation = equation.text();
  entry.equation_location = equation.location();
  entry.feeds = read_feeds(required(node, fields, "feeds", "feeds: {subsystem.input: factor}"));
  const auto start = find_field(fields, "start");
  entry.start = start ? start->number() : 0.0;
  return entry;
}

void read_constraints(const NodeReader& node, Model& model) {
  if (node.is_null()) {
    return;
  }
  for (const NodeReader& item : node.items("constraint")) {
    model.constraints.push_back(read_constraint(item));
  }
}

/// `groups: [[a, b], [c]]`
void read_schedule(const NodeReader& node, Model& model) {
  const Fields fields = node.fields_among({"groups"});
  const NodeReader groups =
      required(node, fields, "groups", "groups: [[<first>, <second>], [<parallel to these>]]");
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

/// Times in seconds, in any order.
void read_events(const NodeReader& node, Model& model) {
  for (const NodeReader& item : node.items("event")) {
    model.events.push_back(item.number());
  }
}

/// They match themselves, and are converted to nothing else.

}  // namespace

Model read_yaml_model(const std::filesystem::path& path) {
  Model model;
  model.source = path.string();
  const YamlDocument document = parse_yaml(read_text(path), model.source);
  if (document.root == nullptr || document.root->kind == YamlNode::Kind::null) {
    throw InputError(model.source + ":1: the model file is empty; it needs experiment and " +
                     "subsystems");
  }
  const NodeReader root(model.source, *document.root, "the model file");
  const Fields fields = root.fields_among(
      {"name", "experiment", "subsystems", "connections", "constraints", "schedule", "events"});
  const auto name = find_field(fields, "name");
  model.name = name ? read_line(*name) : path.stem().string();
  read_experiment(required(root, fields, "experiment", "experiment: {start: 0.0, stop: 1.0}"),
                  model);
  read_subsystems(required(root, fields, "subsystems", "subsystems: with one entry each"),
                  path.parent_path(), model);
  if (const auto connections = find_field(fields, "connections")) {
    read_connections(*connections, model);
  }
  if (const auto constraints = find_field(fields, "constraints")) {
    read_constraints(*constraints, model);
  }
  if (const auto schedule = find_field(fields, "schedule")) {
    read_schedule(*schedule, model);
  }
  if (const auto events = find_field(fields, "events")) {
    read_events(*events, model);
  }
  return model;
}

}  // namespace concord

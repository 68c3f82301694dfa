#include "modelfile/yaml/subsystem_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/yaml/code_reader.hpp"
#include "modelfile/yaml/equations_reader.hpp"
#include "modelfile/yaml/fmu_reader.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/messages_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/remote_reader.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "modelfile/yaml/system_reader.hpp"
#include "modelfile/yaml/table_reader.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

bool is_isolated(const SubsystemParts& parts) { return parts.isolated && parts.isolated->flag(); }

/// Which of the kinds the fields describe.
std::string kind_of(const NodeReader& node, const Fields& fields, Keys keys) {
  std::vector<std::string> kinds, found;
  for (const Key& key : keys()) {
    if (key.alternative) {
      kinds.emplace_back(key.name);
      if (find_field(fields, key.name)) {
        found.emplace_back(key.name);
      }
    }
  }
  if (found.size() != 1) {
    node.fail("needs exactly one of " + joined(kinds) + "; found " +
              (found.empty() ? "none" : joined(found, " and ")));
  }
  return found.front();
}

double read_effort(const NodeReader& node, const Constants& constants) {
  const double effort = node.number(constants);
  if (!(effort > 0.0)) {
    node.fail("must be greater than zero");
  }
  return effort;
}

int read_rank(const NodeReader& node, const Constants& constants) {
  const double rank = node.number(constants);
  if (!(rank >= 0.0 && rank <= std::numeric_limits<int>::max() && rank == std::floor(rank))) {
    node.fail("must be a whole number, 0 or greater");
  }
  return static_cast<int>(rank);
}

double read_step(const NodeReader& node, const Constants& constants) {
  const double step = node.number(constants);
  if (!(step > 0.0 && std::isfinite(step))) {
    node.fail("must be a time in s, greater than zero");
  }
  return step;
}

/// Of what has nothing that can be set.
void refuse_values(const SubsystemParts& parts, const ModelChanges& changes, const char* what) {
  std::string location = changes.empty() ? "" : changes.front().location;
  for (const Fields* fields : {&parts.parameters, &parts.start}) {
    location = fields->empty() ? location : fields->front().key_location;
  }
  if (!location.empty()) {
    throw InputError(location + ": " + what + " no parameters and no start values");
  }
}

SubsystemEntry read_kind(const std::string& name, const NodeReader& node,
                         const SubsystemParts& parts, const SubsystemSurroundings& around) {
  const std::string kind = kind_of(node, parts.kind, template_keys);
  const bool is_code = kind == "native" || kind == "python";
  if (is_isolated(parts) && kind != "fmu" && !is_code) {
    parts.isolated->fail("has nothing to isolate: only fmu, native and python run code of others");
  }
  if (kind == "equations") {
    return equations_entry(name, node, parts, around);
  }
  if (is_code || is_whole(parts)) {
    return code_entry(name, node, parts, around);
  }
  if (kind == "remote") {
    return remote_entry(name, node, parts, around);
  }
  if (kind == "messages") {
    refuse_values(parts, around.changes.of(name, {}), "messages have");
    return messages_entry(name, node, parts);
  }
  if (kind == "table") {
    refuse_values(parts, around.changes.of(name, {}), "a table has");
    return table_entry(name, node, *find_field(parts.kind, "table"), parts.constants);
  }
  return fmu_entry(name, *find_field(parts.kind, "fmu"), parts.parameters, parts.start,
                   is_isolated(parts), around.changes, parts.constants);
}

/// Names of an FMU's variables may be anything.
Fields values_of(const Fields& fields, const char* key, const char* role, const std::string& kind,
                 const std::string& owner) {
  const auto node = find_field(fields, key);
  if (!node) {
    return {};
  }
  const bool has_vectors = kind == "equations" || kind == "python";
  return kind == "fmu" ? node->fields(role, owner)
         : has_vectors ? node->indexed_fields(role, owner)
                       : node->named_fields(role, owner);
}

/// What a process outside is given and gives; others name that where they say what they are.
void take_variables(const Fields& fields, const std::string& kind, SubsystemParts& parts) {
  std::optional<NodeReader>* const places[] = {&parts.inputs, &parts.outputs, &parts.units};
  const char* const names[] = {"inputs", "outputs", "units"};
  for (std::size_t i = 0; i < std::size(places); ++i) {
    const auto node = find_field(fields, names[i]);
    if (node && kind == "equations") node->fail("belongs under 'equations'");
    if (node && kind != "remote") node->fail("is for remote: only; found beside '" + kind + "'");
    if (node) *places[i] = node;
  }
}

/// The entry's parts and those of its template, which have the same form.
SubsystemParts parts_of(const NodeReader& node, const Fields& fields,
                        const SubsystemSurroundings& around) {
  SubsystemParts parts;
  parts.constants = around.constants;
  parts.kind = fields;
  std::string kind = kind_of(node, fields, subsystem_keys);
  if (kind == "template") {
    const NodeReader name = *find_field(fields, "template");
    const auto found = find_field(around.templates, name.text());
    if (!found) {
      std::vector<std::string> names;
      for (const Field& entry : around.templates) {
        names.push_back(entry.key);
      }
      name.fail("names no template; " + known("templates", name.text(), names));
    }
    parts.kind = found->fields_among(template_keys);
    kind = kind_of(*found, parts.kind, template_keys);
    parts.parameters = values_of(parts.kind, "parameters", "parameter", kind, node.what());
    parts.start = values_of(parts.kind, "start", "start value", kind, node.what());
    take_variables(parts.kind, kind, parts);
    parts.effort = find_field(parts.kind, "effort");
    parts.step = find_field(parts.kind, "step");
    parts.isolated = find_field(parts.kind, "isolated");
    parts.run = find_field(parts.kind, "run");
  }
  parts.parameters = merged(std::move(parts.parameters),
                            values_of(fields, "parameters", "parameter", kind, node.what()));
  parts.start =
      merged(std::move(parts.start), values_of(fields, "start", "start value", kind, node.what()));
  if (const auto effort = find_field(fields, "effort")) {
    parts.effort = effort;
  }
  take_variables(fields, kind, parts);
  parts.rank = find_field(fields, "rank");
  if (const auto step = find_field(fields, "step")) {
    parts.step = step;
  }
  if (const auto isolated = find_field(fields, "isolated")) {
    parts.isolated = isolated;
  }
  if (const auto run = find_field(fields, "run")) {
    parts.run = run;
  }
  if (parts.run && kind != "system") {
    parts.run->fail("is for systems; a subsystem alone runs as the whole does");
  }
  return parts;
}

/// What goes with any kind.
SubsystemEntry with_rest(SubsystemEntry entry, const SubsystemParts& parts) {
  if (parts.effort) {
    entry.effort = read_effort(*parts.effort, parts.constants);
  }
  if (parts.rank) {
    entry.rank = read_rank(*parts.rank, parts.constants);
  }
  if (parts.step) {
    entry.step = read_step(*parts.step, parts.constants);
    entry.step_location = parts.step->location();
  }
  return entry;
}

}  // namespace

void read_subsystems(const Field& field, const SubsystemSurroundings& around) {
  const NodeReader& node = field.value;
  const Fields fields = node.fields_among(subsystem_keys);
  SubsystemParts parts = parts_of(node, fields, around);
  const std::string name = around.prefix + field.key;
  auto& subsystems = around.model.subsystems;
  const auto add = [&](SubsystemEntry entry) {
    subsystems.push_back(with_rest(std::move(entry), parts));
    subsystems.back().location = field.key_location;
  };
  const auto read = [&](const std::string& called) {
    const NodeReader its_node = node.called("subsystem " + in_quotes(called));
    if (find_field(parts.kind, "system")) {
      return read_system(called, its_node, parts, around);
    }
    add(read_kind(called, its_node, parts, around));
  };
  const auto repeat = find_field(fields, "repeat");
  if (!repeat) {
    return read(name);
  }
  std::optional<RepeatedEquations> others;
  const std::vector<Repetition> rounds = repetitions(*repeat, around.constants);
  for (const Repetition& each : rounds) {
    const std::string called = name + "[" + std::to_string(each.value) + "]";
    const auto value = static_cast<double>(each.value);
    parts.constants.values[each.index] = value;
    if (auto known = others ? others->in_round(called, value) : std::nullopt) {
      add(std::move(*known));
      continue;
    }
    parts.constants = around.constants;
    keep_in_functions(std::span(&each.index, 1), parts.constants);
    parts.constants.values[each.index] = value;
    read(called);
    if (!others && rounds.size() > 1 && find_field(parts.kind, "equations"))
      others.emplace(node.called("subsystem " + in_quotes(called)), parts, each.index,
                     subsystems.back(), around);
  }
}

}  // namespace concord

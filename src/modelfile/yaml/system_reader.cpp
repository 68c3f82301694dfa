#include "modelfile/yaml/system_reader.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "concord/errors.hpp"
#include "modelfile/yaml/connections_reader.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/initial_reader.hpp"
#include "modelfile/yaml/map_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/subsystem_reader.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;

Fields named(const Fields& fields, const char* key, const char* role, const std::string& owner) {
  const auto node = find_field(fields, key);
  return node ? node->named_fields(role, owner) : Fields{};
}

/// Types whose iterations or estimators come to what integrating as one gives at once.
const std::string solved_alike[] = {"jfm", "jfm6", "missiles", "missiles6", "ifosmondi"};

class SystemReader {
 public:
  SystemReader(const std::string& name, const NodeReader& node, const SubsystemParts& given,
               const SubsystemSurroundings& around)
      : name_(name), node_(node), given_(given), around_(around), within_(around) {}

  void read() {
    refuse_what_is_no_systems();
    const NodeReader system = text();
    fields_ = system.fields_among(system_keys);
    const Fields subsystems = named(fields_, "subsystems", "subsystem", node_.what());
    read_parameters(subsystems);
    within_.prefix = name_ + ".";
    within_.templates = merged(around_.templates, named(fields_, "templates", "template", ""));
    around_.model.systems.push_back(
        {name_, terminals("inputs"), terminals("outputs"), run(), parameters_});
    for (const Field& subsystem : subsystems) read_subsystems(subsystem, within_);
    if (subsystems.empty()) system.fail("must name at least one subsystem");
    if (const auto connections = find_field(fields_, "connections");
        connections && !connections->is_null())
      read_connections(connections->items("connection"), within_.constants, within_.prefix,
                       around_.model);
    if (const auto initial = find_field(fields_, "initial"); initial && !initial->is_null())
      read_initial(initial->items("initial equation"), within_.constants, within_.prefix,
                   around_.model);
  }

 private:
  void refuse_what_is_no_systems() const;
  void refuse_itself(const NodeReader& system);
  NodeReader text();
  void read_parameters(const Fields& subsystems);
  Fields changes_of_parameters(const std::vector<std::string>& names,
                               const Fields& subsystems) const;
  std::vector<SystemTerminal> terminals(const char* key) const;
  std::optional<SystemRun> run() const;

  std::string name_;
  NodeReader node_;
  const SubsystemParts& given_;
  const SubsystemSurroundings& around_;
  SubsystemSurroundings within_;
  std::map<std::string, double> parameters_;
  Fields fields_;
};

void SystemReader::refuse_what_is_no_systems() const {
  if (!given_.start.empty()) {
    throw InputError(given_.start.front().key_location + ": " + node_.what() +
                     " is a system and has no start values; give them to the subsystems within");
  }
  for (const auto* part : {&given_.effort, &given_.step, &given_.rank, &given_.isolated}) {
    if (*part) (*part)->fail("is not for systems; give it to the subsystems within");
  }
}

/// A template that is made of itself.
void SystemReader::refuse_itself(const NodeReader& system) {
  const auto outer = std::ranges::find_if(
      within_.systems, [&](const NodeReader& other) { return other.is(system); });
  if (outer != within_.systems.end()) {
    system.fail("is a part of itself: " + outer->what() +
                " is made of the same template; let that be made of others");
  }
  within_.systems.push_back(system.called(node_.what()));
}

/// The system itself, written here or in a file of its own.
NodeReader SystemReader::text() {
  const NodeReader system = field_of(given_.kind, "system");
  if (system.is_map()) {
    refuse_itself(system);
    return system;
  }
  const NodeReader root = around_.text.system_file(system);
  const std::string file = root.location().substr(0, root.location().rfind(':'));
  if (std::ranges::find(within_.files, file) != within_.files.end()) {
    system.fail("is a part of itself, by way of " + joined(within_.files, " -> ") + " -> " + file);
  }
  within_.files.push_back(file);
  const auto same = [&](const ModelFile& known) { return known.path == file; };
  if (std::ranges::none_of(around_.model.files, same)) {
    around_.model.files.push_back({"system's file", file});
  }
  return root;
}

/// Those of the system hide those around it, whose names mean what they do around it in what is
/// given beside the system and set.
void SystemReader::read_parameters(const Fields& subsystems) {
  const Fields parameters = named(fields_, "parameters", "parameter", node_.what());
  const std::vector<std::string> names = keys_of({&parameters});
  for (const Field& parameter : parameters) refuse_taken_name(parameter);
  const Fields given = merged(given_.parameters, changes_of_parameters(names, subsystems));
  for (const Field& field : given) {
    if (!find_field(parameters, field.key)) {
      throw InputError(field.key_location + ": " + node_.what() +
                       " is a system and has no parameter " + in_quotes(field.key) + "; " +
                       known("parameters", field.key, names));
    }
  }
  within_.constants = given_.constants;
  keep_in_functions(names, within_.constants);
  if (const auto maps = find_field(fields_, "maps"))
    read_maps(maps->named_fields("map", ""), names, within_.constants, around_.model.files);
  if (const auto functions = find_field(fields_, "functions"))
    read_functions(functions->fields("function", node_.what()), names, within_.constants);
  Fields own;
  for (const Field& parameter : parameters) {
    const auto value = find_field(given, parameter.key);
    if (!value) own.push_back(parameter);
    if (value) within_.constants.values[parameter.key] = value->number(given_.constants);
  }
  within_.constants = resolved(own, within_.constants);
  for (const std::string& name : names) parameters_[name] = within_.constants.values.at(name);
}

/// Changes of the system that are none of what is within.
Fields SystemReader::changes_of_parameters(const std::vector<std::string>& names,
                                           const Fields& subsystems) const {
  ModelChanges own = around_.changes.of(name_, names);
  std::erase_if(own, [&](const ModelChange& change) {
    const std::string first = change.name.substr(0, change.name.find_first_of(".["));
    return find_field(subsystems, first).has_value() && first != change.name;
  });
  return around_.changed.of(own, node_.what());
}

std::vector<SystemTerminal> SystemReader::terminals(const char* key) const {
  std::vector<SystemTerminal> result;
  const std::string role(key, std::string_view(key).size() - 1);
  for (const Field& field : named(fields_, key, role.c_str(), node_.what())) {
    SystemTerminal terminal{field.key, {}, field.value.location()};
    std::vector<NodeReader> ends = {field.value};
    if (field.value.is_list() && role == "input") ends = field.value.items(field.value.what());
    for (const NodeReader& end : ends) {
      if (!is_variable_path(end.text())) {
        end.fail("must be a 'subsystem." + role + "' within, not " + in_quotes(end.text()));
      }
      terminal.inner.push_back(name_ + "." + end.text());
    }
    result.push_back(std::move(terminal));
  }
  return result;
}

std::optional<SystemRun> SystemReader::run() const {
  if (!given_.run) return std::nullopt;
  SystemRun result{{}, given_.run->location(), {}};
  const Fields fields = given_.run->fields_among(run_keys);
  if (const auto accuracy = find_field(fields, "accuracy")) {
    constexpr double least = 1e-12, most = 0.1;
    result.accuracy = accuracy->number(given_.constants);
    if (!(*result.accuracy >= least && *result.accuracy <= most))
      accuracy->fail("must be from 1e-12 to 0.1 of each signal's range, not " +
                     short_number(*result.accuracy));
  }
  if (const auto type = find_field(fields, "type"); type && type->text() != "monolithic") {
    if (std::ranges::find(solved_alike, type->text()) == std::end(solved_alike))
      type->fail("must be monolithic, " + joined(solved_alike) + ", not " +
                 in_quotes(type->text()) + "; what is within is integrated as one");
    result.notes.push_back("'run' asks for type " + type->text() +
                           ": what is within is integrated as one (monolithic), which is what " +
                           type->text() + " converges to");
  }
  return result;
}

}  // namespace

void read_system(const std::string& name, const NodeReader& node, const SubsystemParts& parts,
                 const SubsystemSurroundings& around) {
  SystemReader(name, node, parts, around).read();
}

}  // namespace concord

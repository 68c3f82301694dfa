#include "modelfile/nested_systems.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "nested/nested_system.hpp"
#include "network/network.hpp"
#include "settings/accuracy.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Whether a subsystem is one of the system's.
struct Within {
  const SystemEntry& system;
  bool operator()(const SubsystemEntry& entry) const {
    return entry.description.name.starts_with(system.name + ".");
  }
};

void refuse_what_is_no_equations(const SystemEntry& system, const SubsystemEntry& entry) {
  const SubsystemDescription& d = entry.description;
  const char* reason = d.kind == "fmu"             ? "is an FMU"
                       : !d.capabilities.equations ? "gives no equations"
                       : entry.isolated            ? "is in a process of its own"
                       : entry.step != 0.0         ? "has a 'step' of its own"
                       : entry.rank                ? "has a 'rank' of its own"
                                                   : nullptr;
  if (reason != nullptr)
    throw InputError(system.run->location + ": 'run' integrates system " + in_quotes(system.name) +
                     " as one, and " + in_quotes(d.name) + " within it (" + entry.location + ") " +
                     reason + "; leave 'run' out: then the system is part of the whole");
}

/// All that the terms of connections lead to within.
std::unordered_set<std::string> variables_of(const std::vector<SubsystemEntry>& entries) {
  std::unordered_set<std::string> result;
  for (const SubsystemEntry& entry : entries) {
    const SubsystemDescription& d = entry.description;
    for (const auto& input : d.inputs) result.insert(d.name + "." + input.name);
    for (const auto& output : d.outputs) result.insert(d.name + "." + output.name);
  }
  return result;
}

/// Inputs that are fed from outside need no start values.
void start_inputs(Model& inside) {
  for (SubsystemEntry& entry : inside.subsystems)
    for (InputVariable& input : entry.description.inputs) input.start = input.start.value_or(0.0);
}

Model taken_out(const SystemEntry& system, Model& model) {
  Model inside;
  inside.name = system.name;
  inside.source = model.source;
  inside.start = options::real("cosim_start").value_or(model.start);
  inside.stop = options::real("cosim_stop").value_or(model.stop);
  std::ranges::copy_if(model.subsystems, std::back_inserter(inside.subsystems), Within{system});
  for (const SubsystemEntry& entry : inside.subsystems) refuse_what_is_no_equations(system, entry);
  const auto variables = variables_of(inside.subsystems);
  const auto leads_within = [&](const ConnectionEntry& connection) {
    return !connection.held && variables.contains(connection.from) &&
           variables.contains(connection.to);
  };
  std::ranges::copy_if(model.connections, std::back_inserter(inside.connections), leads_within);
  std::erase_if(model.connections, leads_within);
  return inside;
}

void add_up(const SubsystemEntry& part, const std::string& system, SubsystemEntry& whole,
            std::vector<ModelFile>& files) {
  for (const std::string& note : part.notes)
    whole.notes.push_back(part.description.name + ": " + note);
  for (const auto& [variable, unit] : part.display)
    whole.display.emplace(name_within(part.description, variable, system), unit);
  if (part.rows_end)
    whole.rows_end = std::min(*part.rows_end, whole.rows_end.value_or(*part.rows_end));
  whole.identity += part.description.name + ": " + part.identity + "\n";
  whole.effort += part.effort;
  const auto known = [&](const ModelFile& file) {
    return file.path == part.file.path && file.name == part.file.name;
  };
  if (!part.file.role.empty() && std::ranges::none_of(files, known)) files.push_back(part.file);
}

std::vector<double> events_of(const Model& inside, double from, double to, std::size_t among) {
  std::vector<double> result;
  for (const SubsystemEntry& entry : inside.subsystems) {
    if (!entry.events) continue;
    const std::vector<double> own = entry.events(from, to, among);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

void make_it(SubsystemEntry& entry, const std::shared_ptr<const Model>& inside,
             std::optional<double> accuracy) {
  entry.create = [shown = entry.description, inside, accuracy](const SubsystemSettings& given) {
    SubsystemSettings settings = given;
    if (accuracy) {
      const Tolerance own = integrators_for(*accuracy);
      settings.tolerance.relative = std::min(settings.tolerance.relative, own.relative);
      settings.tolerance.absolute = std::min(settings.tolerance.absolute, own.absolute);
    }
    return make_nested(shown, inside, settings);
  };
  entry.take_starts = [inside, accuracy](SubsystemEntry& other,
                                         const SubsystemDescription& starts) {
    other.description = starts;
    make_it(other, inside, accuracy);
  };
}

SubsystemEntry nested_entry(const SystemEntry& system, Model& model) {
  auto inside = std::make_shared<Model>(taken_out(system, model));
  SubsystemEntry entry;
  entry.location = system.run->location;
  for (const SubsystemEntry& part : inside->subsystems)
    add_up(part, system.name, entry, model.files);
  const bool tells = std::ranges::any_of(
      inside->subsystems, [](const SubsystemEntry& part) { return part.events != nullptr; });
  if (tells)
    entry.events = [inside](double from, double to, std::size_t among) {
      return events_of(*inside, from, to, among);
    };
  start_inputs(*inside);
  entry.inside = inside;
  entry.description = describe_nested(system.name, *inside);
  entry.description.remarks.push_back(
      std::to_string(inside->subsystems.size()) +
      " subsystems, integrated as one with steps of their own ('run')");
  for (const std::string& note : system.run->notes) entry.notes.push_back(note);
  make_it(entry, inside, system.run->accuracy);
  return entry;
}

}  // namespace

/// Inner ones first, which stand behind those that they are part of.
void nest_systems(Model& model) {
  const auto runs = [](const SystemEntry& system) { return system.run.has_value(); };
  if (std::ranges::none_of(model.systems, runs)) return;
  const Network names_what_is_wrong(model);
  for (auto system = model.systems.rbegin(); system != model.systems.rend(); ++system) {
    if (!system->run) continue;
    SubsystemEntry entry = nested_entry(*system, model);
    const auto place = std::ranges::find_if(model.subsystems, Within{*system});
    *place = std::move(entry);
    std::erase_if(model.subsystems, Within{*system});
  }
}

}  // namespace concord

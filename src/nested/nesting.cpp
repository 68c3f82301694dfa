#include "nested/nesting.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "nested/nested_system.hpp"
#include "network/network.hpp"
#include "network/written_parts.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Within = std::function<bool(const SubsystemEntry&)>;

/// What becomes one subsystem.
struct Nest {
  std::string name;
  std::string prefix;  ///< of all names within, which the variables' go on behind
  std::string kind;
  std::string remark;  ///< behind the number of subsystems
  Location location;
  std::optional<Tolerance> integrators{};  ///< at most; none: those of the whole
  Within within;
};

void refuse_what_cannot_be_within(const SystemEntry& system, const Within& within,
                                  const Model& model) {
  for (const SubsystemEntry& entry : model.subsystems) {
    const std::string reason = within(entry) ? why_not_within(entry) : "";
    if (!reason.empty())
      throw InputError(system.run->location + ": 'run' integrates system " +
                       in_quotes(system.name) + " as one, and " +
                       in_quotes(entry.description.name) + " within it (" + entry.location + ") " +
                       reason + "; leave 'run' out: then the system is part of the whole");
  }
}

/// All that the terms of connections lead to within.
std::unordered_set<std::string> variables_of(const std::vector<SubsystemEntry>& entries) {
  std::unordered_set<std::string> result;
  for (const SubsystemEntry& entry : entries) {
    const SubsystemDescription& d = entry.description;
    for (const auto& input : d.inputs) result.insert(whole_name(d, input.name));
    for (const auto& output : d.outputs) result.insert(whole_name(d, output.name));
  }
  return result;
}

/// Inputs that are fed from outside need no start values.
void start_inputs(Model& inside) {
  for (SubsystemEntry& entry : inside.subsystems)
    for (InputVariable& input : entry.description.inputs.own())
      input.start = input.start.value_or(0.0);
}

Model taken_out(const Nest& nest, Model& model) {
  Model inside;
  inside.name = nest.name;
  inside.source = model.source;
  inside.start = options::real("cosim_start").value_or(model.start);
  inside.stop = options::real("cosim_stop").value_or(model.stop);
  std::ranges::copy_if(model.subsystems, std::back_inserter(inside.subsystems), nest.within);
  const auto variables = variables_of(inside.subsystems);
  const auto leads_within = [&](const ConnectionEntry& connection) {
    return !connection.held && variables.contains(connection.from) &&
           variables.contains(connection.to);
  };
  for (const ConnectionEntry& connection : model.connections)
    if (leads_within(connection)) inside.connections.push_back(connection);
  model.connections.erase_if(leads_within);
  return inside;
}

void add_up(const SubsystemEntry& part, const std::string& prefix, SubsystemEntry& whole,
            std::vector<ModelFile>& files) {
  for (const std::string& note : part.type->notes)
    whole.type.own().notes.push_back(part.description.name + ": " + note);
  for (const auto& [variable, unit] : part.type->display)
    whole.type.own().display.emplace(name_within(part.description, variable, prefix), unit);
  if (part.type->rows_end)
    whole.type.own().rows_end =
        std::min(*part.type->rows_end, whole.type->rows_end.value_or(*part.type->rows_end));
  whole.type.own().identity += part.description.name + ": " + part.type->identity + "\n";
  whole.effort += part.effort;
  const auto known = [&](const ModelFile& file) {
    return file.path == part.type->file.path && file.name == part.type->file.name;
  };
  if (!part.type->file.role.empty() && std::ranges::none_of(files, known))
    files.push_back(part.type->file);
}

std::vector<double> events_of(const Model& inside, double from, double to, std::size_t among) {
  std::vector<double> result;
  for (const SubsystemEntry& entry : inside.subsystems) {
    if (!entry.type->events) continue;
    const std::vector<double> own = entry.type->events(from, to, among);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

void make_it(SubsystemEntry& entry, const std::shared_ptr<const Model>& inside,
             std::optional<Tolerance> most) {
  entry.type.own().create = [shown = entry.description, inside, most](
                                const SubsystemEntry&, const SubsystemSettings& given) {
    SubsystemSettings settings = given;
    if (most) {
      settings.tolerance.relative = std::min(settings.tolerance.relative, most->relative);
      settings.tolerance.absolute = std::min(settings.tolerance.absolute, most->absolute);
    }
    return make_nested(shown, inside, settings);
  };
  entry.type.own().take_starts = [inside, most](SubsystemEntry& other,
                                                const SubsystemDescription& starts) {
    other.description = starts;
    make_it(other, inside, most);
  };
}

SubsystemEntry nested_entry(const Nest& nest, Model& model) {
  auto inside = std::make_shared<Model>(taken_out(nest, model));
  SubsystemEntry entry;
  entry.location = nest.location;
  for (const SubsystemEntry& part : inside->subsystems)
    add_up(part, nest.prefix, entry, model.files);
  const bool tells = std::ranges::any_of(
      inside->subsystems, [](const SubsystemEntry& part) { return part.type->events != nullptr; });
  if (tells)
    entry.type.own().events = [inside](double from, double to, std::size_t among) {
      return events_of(*inside, from, to, among);
    };
  start_inputs(*inside);
  entry.type.own().inside = inside;
  entry.place = inside->subsystems.front().place;
  entry.description = describe_nested(nest.name, nest.kind, nest.prefix, *inside);
  entry.description.remarks.push_back(std::to_string(inside->subsystems.size()) + " subsystems, " +
                                      nest.remark);
  make_it(entry, inside, nest.integrators);
  return entry;
}

/// In the place of the first subsystem within.
void put_in_place(const Nest& nest, Model& model, std::vector<std::string> notes) {
  SubsystemEntry entry = nested_entry(nest, model);
  for (std::string& note : notes) entry.type.own().notes.push_back(std::move(note));
  const auto place = std::ranges::find_if(model.subsystems, nest.within);
  *place = std::move(entry);
  std::erase_if(model.subsystems, nest.within);
}

/// "a + b + 3 more"
std::string name_of(const PaceGroup& group) {
  constexpr std::size_t shown = 3;
  const auto& members = group.members;
  const std::size_t few = members.size() > shown ? shown - 1 : members.size();
  return joined(std::span(members).first(few), " + ") +
         (few < members.size() ? " + " + std::to_string(members.size() - few) + " more" : "");
}

}  // namespace

std::string why_not_within(const SubsystemEntry& entry) {
  const SubsystemDescription& d = entry.description;
  return d.kind == "fmu"             ? "is an FMU"
         : !d.capabilities.equations ? "gives no equations"
         : entry.isolated            ? "is in a process of its own"
         : entry.step != 0.0         ? "has a 'step' of its own"
         : entry.rank                ? "has a 'rank' of its own"
                                     : "";
}

/// Inner ones first, which stand behind those that they are part of.
void nest_systems(Model& model, const std::function<Tolerance(double accuracy)>& integrators_for) {
  const auto runs = [](const SystemEntry& system) { return system.run.has_value(); };
  if (std::ranges::none_of(model.systems, runs)) return;
  const Network names_what_is_wrong(model);
  for (auto system = model.systems.rbegin(); system != model.systems.rend(); ++system) {
    if (!system->run) continue;
    const Within within = [begin = system->name + "."](const SubsystemEntry& entry) {
      return entry.description.name.starts_with(begin);
    };
    refuse_what_cannot_be_within(*system, within, model);
    const auto accuracy = system->run->accuracy;
    put_in_place({system->name, system->name + ".", "system",
                  "integrated as one with steps of their own ('run')", system->run->location,
                  accuracy ? std::optional(integrators_for(*accuracy)) : std::nullopt, within},
                 model, system->run->notes);
  }
}

void nest_groups(Model& model, const std::vector<PaceGroup>& groups) {
  if (groups.empty()) return;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) model.subsystems[k].place = k;
  for (const PaceGroup& group : groups) {
    const std::unordered_set<std::string> names(group.members.begin(), group.members.end());
    put_in_place(
        {name_of(group),
         "",
         kind_of_group,
         "integrated as one with steps of their own (-cosim_paces)",
         {},
         {},
         [names](const SubsystemEntry& entry) { return names.contains(entry.description.name); }},
        model, {});
  }
}

}  // namespace concord

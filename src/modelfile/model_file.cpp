#include "modelfile/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "modelfile/array_connections.hpp"
#include "modelfile/constraint_connections.hpp"
#include "modelfile/delayed_connections.hpp"
#include "modelfile/fmu/clock_connections.hpp"
#include "modelfile/fmu/fmu_entry.hpp"
#include "modelfile/initial_equations.hpp"
#include "modelfile/named_connections.hpp"
#include "modelfile/scenario/scenario_connections.hpp"
#include "modelfile/ssp/ssp_reader.hpp"
#include "modelfile/summed_connections.hpp"
#include "modelfile/system_connections.hpp"
#include "modelfile/terminal_connections.hpp"
#include "modelfile/text_connections.hpp"
#include "modelfile/yaml/yaml_model.hpp"
#include "nested/nesting.hpp"
#include "settings/accuracy.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/messages/messages.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

void note_unknown_units(Model& model) {
  std::set<std::string> known = {""};
  const auto look_at_one = [&](const std::string& owner, const std::string& name,
                               const std::string& unit) {
    if (known.insert(unit).second && !is_known_unit(unit)) {
      model.notes.push_back("the unit " + in_quotes(unit) + " of " + owner + "." + name +
                            " is not known: it matches itself only" + unit_suggestion(unit));
    }
  };
  const auto look_at = [&](const std::string& owner, const auto& variables) {
    for (const auto& variable : variables) look_at_one(owner, variable.name, variable.unit);
  };
  for (const SubsystemEntry& entry : model.subsystems) {
    look_at(entry.description.name, entry.description.inputs);
    look_at(entry.description.name, entry.description.states);
    look_at(entry.description.name, entry.description.outputs);
    if (!entry.equations) continue;
    for (const auto& unit : entry.equations->units)
      look_at_one(entry.description.name, unit.name, unit.text);
  }
}

/// What a factor may hide behind.
void note_units_at_one_end(Model& model) {
  std::unordered_map<std::string, std::string> units;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    for (const auto& input : d.inputs) units[d.name + "." + input.name] = input.unit;
    for (const auto& output : d.outputs) units[d.name + "." + output.name] = output.unit;
  }
  constexpr std::size_t most = 10;
  std::size_t found = 0;
  for (const ConnectionEntry& connection : model.connections) {
    const std::string &from = units[connection.from], &to = units[connection.to];
    if (from.empty() == to.empty()) continue;
    const auto base = in_base_units(from.empty() ? to : from);
    const bool scaled = base && (base->factor != 1.0 || base->offset != 0.0);
    if (!scaled || ++found > most) continue;
    model.notes.push_back(connection.location + ": " + connection.from + " -> " + connection.to +
                          " has the unit " + in_quotes(from.empty() ? to : from) +
                          " at one end only: nothing is converted, where a factor of " +
                          short_number(base->factor) + " leads to base units");
  }
}

/// What nobody may have meant: rows that end before the experiment does.
void note_what_is_left(Model& model) {
  const double stop = options::real("cosim_stop").value_or(model.stop);
  for (const SubsystemEntry& entry : model.subsystems) {
    const std::string name = entry.location + ": " + entry.description.name;
    for (const std::string& note : entry.type->notes) model.notes.push_back(name + ": " + note);
    if (entry.type->rows_end && *entry.type->rows_end < stop)
      model.notes.push_back(name + ": its rows end at t = " + short_number(*entry.type->rows_end) +
                            " s, before the stop at " + short_number(stop) + " s");
  }
}

/// What comes at instants that are known beforehand, each of which ends a macro-step.
struct Ticks {
  Location location;
  std::string what;  ///< "ticks of 'control'"
  double every;      ///< s
};

std::vector<Ticks> ticks_of(const SubsystemEntry& entry) {
  std::vector<Ticks> result;
  const std::string& name = entry.description.name;
  if (entry.equations)
    for (const auto& when : entry.equations->whens)
      if (when.every)
        result.push_back({when.location, "ticks of subsystem " + in_quotes(name), *when.every});
  if (entry.type->messages)
    for (const MessagePort& port : entry.type->messages->ports)
      if (port.every)
        result.push_back({port.location, "messages of channel " + in_quotes(name + "." + port.name),
                          *port.every});
  if (entry.type->fmu)
    for (const FmiVariable& variable : entry.type->fmu->model->variables)
      if (variable.clock && variable.clock->is_periodic() && variable.clock->period)
        result.push_back({entry.location, "ticks of clock " + in_quotes(name + "." + variable.name),
                          variable.clock->period->seconds()});
  return result;
}

/// Ticks that times cannot tell apart, or so many that no run comes to their end: at 10 us for
/// each, which few do with, `most` take 11 days. What many take is said beforehand.
void look_at_ticks(Model& model) {
  constexpr double most = 1e11, many = 1e8, apart = 64.0 * std::numeric_limits<double>::epsilon();
  const double start = options::real("cosim_start").value_or(model.start);
  const double stop = options::real("cosim_stop").value_or(model.stop);
  const double nearest = apart * std::max(std::abs(start), std::abs(stop));
  for (const SubsystemEntry& entry : model.subsystems)
    for (const auto& [location, what, every] : ticks_of(entry)) {
      const double count = (stop - start) / every;
      const std::string found =
          location + ": " + what + " come every " + short_number(every) + " s, ";
      if (every > 0.0 && every < nearest)
        throw InputError(found + "which times up to " +
                         short_number(std::max(std::abs(start), std::abs(stop))) +
                         " s cannot tell apart; give at least " + short_number(nearest) + " s");
      if (count > most)
        throw InputError(found + short_number(count) + " times until the stop at " +
                         short_number(stop) + " s, of which no run sees the end; give at least " +
                         short_number((stop - start) / most) + " s, or an earlier stop");
      if (count > many)
        model.notes.push_back(found + short_number(count) + " times until the stop at " +
                              short_number(stop) + " s, each at the end of a macro-step");
    }
}

/// Over the time that is simulated.
void add_events_of_subsystems(Model& model) {
  model.listed_events = model.events;
  const auto among = static_cast<std::size_t>(std::ranges::count_if(
      model.subsystems, [](const SubsystemEntry& entry) { return entry.type->events != nullptr; }));
  for (const SubsystemEntry& entry : model.subsystems) {
    if (entry.type->events) {
      const std::vector<double> own =
          entry.type->events(options::real("cosim_start").value_or(model.start),
                             options::real("cosim_stop").value_or(model.stop), among);
      model.events.insert(model.events.end(), own.begin(), own.end());
    }
  }
}

/// Behind those that the model itself is read from; of subsystems that share one, once.
void list_files_of_subsystems(Model& model) {
  std::set<std::pair<std::string, std::string>> listed;
  for (const ModelFile& file : model.files) {
    listed.emplace(file.path, file.name);
  }
  for (const SubsystemEntry& entry : model.subsystems) {
    const ModelFile& file = entry.type->file;
    if (!file.role.empty() && listed.emplace(file.path, file.name).second) {
      model.files.push_back(file);
    }
  }
}

}  // namespace

void complete(Model& model) {
  connect_sums(model);
  connect_by_name(model);
  connect_terminals(model);
  connect_systems(model);
  resolve_aliases(model);
  connect_texts(model);
  connect_arrays(model);
  check_clocks(model);
  connect_delays(model);
  connect_constraints(model);
  connect_scenario(model);
  look_at_ticks(model);
  nest_systems(model, integrators_for);
  connect_initial(model);
  add_events_of_subsystems(model);
  list_files_of_subsystems(model);
  for (std::vector<double>* times : {&model.listed_events, &model.events}) {
    std::sort(times->begin(), times->end());
    times->erase(std::unique(times->begin(), times->end()), times->end());
  }
  note_unknown_units(model);
  note_units_at_one_end(model);
  note_what_is_left(model);
}

ModelFileText::ModelFileText(const std::filesystem::path& path) : path_(path) {
  if (!is_ssp(path)) yaml_.emplace(path);
}

Model ModelFileText::model(const ModelChanges& changes) const {
  Model model = yaml_ ? read_yaml_model(*yaml_, changes) : read_ssp(path_, changes);
  model.changes = as_words(changes);
  complete(model);
  return model;
}

Model read_model_file(const std::filesystem::path& path, const ModelChanges& changes) {
  return ModelFileText(path).model(changes);
}

}  // namespace concord

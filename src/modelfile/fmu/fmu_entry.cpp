#include "modelfile/fmu/fmu_entry.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "modelfile/isolated/isolated_entry.hpp"
#include "settings/option_table.hpp"
#include "settings/settings.hpp"
#include "subsystem/fmu/probe/probe.hpp"
#include "subsystem/fmu/probe/saved_states.hpp"
#include "subsystem/fmu/probe/state_references.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// "motor.alias" to "motor.name", of every FMU.
std::map<std::string, std::string> aliases_in(const Model& model) {
  std::map<std::string, std::string> result;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!entry.type->fmu) continue;
    const std::string owner = entry.description.name + ".";
    for (const FmiVariable& variable : entry.type->fmu->model->variables)
      for (const std::string& alias : variable.aliases)
        result.emplace(owner + alias, owner + variable.name);
  }
  return result;
}

using Names = std::vector<std::string>;

void take(const ModelChanges& changes, FmuRequest& request) {
  for (const ModelChange& change : changes) {
    for (auto* values : {&request.parameters, &request.start, &request.values})
      std::erase_if(*values, [&](const FmuValue& value) { return value.name == change.name; });
    request.values.push_back({change.name,
                              change.items.empty() ? std::vector{change.text} : change.items,
                              change.unit, change.location});
  }
}

/// An FMU's state holds its parameters, too.
std::string identity_of(const FmuSetup& setup) {
  std::string text = "the FMU " + setup.model->token;
  for (const auto* starts : {&setup.structural, &setup.starts})
    for (const FmuStart& start : *starts) {
      const FmiCausality causality = start.variable->causality;
      if (causality == FmiCausality::parameter || causality == FmiCausality::structural_parameter)
        text += ", " + start.variable->name + " = " + joined(start.texts, " ");
    }
  return text;
}

/// Saved states that nothing is known of.
bool is_to_be_tried(const FmuSetup& setup) {
  const FmuRequest& request = setup.request;
  const bool believed = options::has(subsystem_prefix + "rollback") ||
                        options::has(prefix_of(request.subsystem) + "rollback");
  return setup.role == FmuRole::co_simulation && setup.use.state && !request.options.probe &&
         !believed && can_be_tried(setup);
}

/// `call_limit`: seconds after which a call counts as hanging; 0: none.
auto trial_of_states(std::shared_ptr<const FmuSetup> setup, double call_limit) {
  return [setup = std::move(setup), call_limit](double start, double stop, double step) {
    FmuSetup logged = *setup;
    logged.calls = CallLog::current();
    TriedSteps steps{start, stop, step};
    if (call_limit > 0.0)
      steps.longest = static_cast<unsigned>(
          std::ceil(std::min(call_limit, static_cast<double>(steps.longest))));
    return refuted_states(logged, steps);
  };
}

}  // namespace

void resolve_aliases(Model& model) {
  const auto aliases = aliases_in(model);
  if (aliases.empty()) return;
  const auto resolve = [&](std::string& name) {
    const std::size_t bracket = name.ends_with(']') ? name.rfind('[') : std::string::npos;
    const std::string element = bracket == std::string::npos ? "" : name.substr(bracket);
    auto found = aliases.find(name);
    if (found != aliases.end()) {
      name = found->second;
    } else if ((found = aliases.find(name.substr(0, bracket))) != aliases.end()) {
      name = found->second + element;
    }
  };
  model.connections.change([&](ConnectionEntry& connection) {
    resolve(connection.from);
    resolve(connection.to);
  });
  for (ConstraintEntry& constraint : model.constraints)
    for (ConstraintFeed& feed : constraint.feeds) resolve(feed.input);
}

namespace {

void describe_anew(SubsystemEntry& entry, FmuRequest request) {
  const SubsystemEntry made = fmu_entry(std::move(request));
  entry.type.own().fmu = made.type->fmu;
  entry.type.own().identity = made.type->identity;
  entry.type.own().texts = made.type->texts;
  entry.description = made.description;
  entry.type.own().create = made.type->create;
  entry.type.own().try_states = made.type->try_states;
}

/// What the FMU begins with otherwise, as its user would give it.
void begin_fmu_with(SubsystemEntry& entry, const SubsystemDescription& starts) {
  FmuRequest request = entry.type->fmu->request;
  const auto take_others = [&](const auto& before, const auto& now) {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i].start != before[i].start)
        take(ModelChanges{{starts.name, now[i].name, exact_number(*std::optional(now[i].start)),
                           entry.location}},
             request);
  };
  take_others(entry.description.states, starts.states);
  take_others(entry.description.inputs, starts.inputs);
  describe_anew(entry, std::move(request));
}

}  // namespace

void drive_parameter(SubsystemEntry& entry, const std::string& parameter) {
  FmuRequest request = entry.type->fmu->request;
  request.driven.push_back(parameter);
  describe_anew(entry, std::move(request));
}

SubsystemEntry fmu_entry(FmuRequest request, ChangesByOwner* changes) {
  request.options = read_fmu_options(request.subsystem, request.options);
  if (changes != nullptr) {
    const std::string& owner = request.subsystem;
    const bool patterns = changes->has_patterns(owner);
    take(changes->of(owner, patterns ? names_to_give(*open_fmu(request)) : Names{}), request);
  }
  auto setup = open_fmu(request);
  if (request.state_references.empty()) {
    request.state_references = state_references(*setup);
    if (!request.state_references.empty()) setup = open_fmu(request);
  }
  if (request.options.probe) setup = without_refuted(*setup, probe_fmu(*setup));
  SubsystemEntry entry;
  entry.location = request.location;
  entry.type.own().fmu = setup;
  entry.type.own().file = {"FMU", setup->request.path};
  entry.type.own().texts = setup->texts;
  entry.type.own().identity = identity_of(*setup);
  entry.description = description_of(*setup);
  entry.type.own().probe = [setup] { return probe_fmu(*setup).lines; };
  entry.type.own().create = [setup](const SubsystemEntry&, const SubsystemSettings& settings) {
    return make_fmu_subsystem(setup, settings);
  };
  const IsolationOptions isolation = read_isolation_options(request.subsystem, request.isolation);
  if (is_to_be_tried(*setup))
    entry.type.own().try_states = trial_of_states(setup, isolation.call_limit);
  if (isolation.isolated) isolate(entry, Recipe::of(*setup), isolation);
  entry.type.own().take_starts = begin_fmu_with;
  return entry;
}

}  // namespace concord

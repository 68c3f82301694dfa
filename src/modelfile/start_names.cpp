#include "modelfile/start_names.hpp"

#include <algorithm>

#include "subsystem/equations/equations_description.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Kind = StartQuantity::Kind;
using NameList = std::vector<std::string>;

NameList parameters_of(const SubsystemEntry& entry) {
  return entry.equations ? names_of(entry.equations->parameters) : NameList{};
}

std::optional<std::size_t> place_in(const NameList& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - names.begin()));
}

/// In the order in which a name's meaning is looked for.
std::vector<std::pair<Kind, NameList>> variables_of(const SubsystemEntry& entry) {
  const SubsystemDescription& d = entry.description;
  return {{Kind::state, names_of(d.states)},
          {Kind::output, names_of(d.outputs)},
          {Kind::input, names_of(d.inputs)},
          {Kind::parameter, parameters_of(entry)}};
}

double given_value(const SubsystemEntry& entry, Kind kind, std::size_t index) {
  if (kind == Kind::state) return entry.description.states[index].start;
  if (kind == Kind::input) return entry.description.inputs[index].start.value_or(0.0);
  return kind == Kind::parameter ? *entry.equations->parameters[index].value : 0.0;
}

/// The indices of "T[2,3]", which is the last element of its vector.
VectorShape indices_of(const std::string& element) {
  VectorShape result;
  std::size_t at = element.rfind('[');
  while (at < element.size() && element[at] != ']') {
    std::size_t digits = 0;
    result.push_back(std::stol(element.substr(at + 1), &digits));
    at += digits + 1;
  }
  return result;
}

bool is_element_of(const std::string& name, const std::string& vector) {
  return name.starts_with(vector + "[") && name.ends_with(']') &&
         name.find_first_not_of("0123456789,", vector.size() + 1) == name.size() - 1;
}

}  // namespace

StartNames::StartNames(const Model& model) : model_(model) {
  for (std::size_t k = 0; k < model.subsystems.size(); ++k)
    subsystems_.emplace(model.subsystems[k].description.name, k);
  for (const SystemEntry& system : model.systems)
    for (const auto* terminals : {&system.inputs, &system.outputs})
      for (const SystemTerminal& terminal : *terminals)
        terminals_.emplace(system.name + "." + terminal.name, terminal.inner.front());
  for (const ConnectionEntry& connection : model.connections) fed_.insert(connection.to);
}

std::string StartNames::within(std::string name) const {
  for (auto found = terminals_.find(name); found != terminals_.end(); found = terminals_.find(name))
    name = found->second;
  return name;
}

std::optional<StartNames::Place> StartNames::place_of(const std::string& name) const {
  for (std::size_t dot = name.rfind('.'); dot != name.npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    const auto found = subsystems_.find(name.substr(0, dot));
    if (found != subsystems_.end())
      return Place{&model_.subsystems[found->second], found->second, name.substr(dot + 1)};
  }
  return std::nullopt;
}

std::optional<StartQuantity> StartNames::find(const std::string& name) const {
  const auto place = place_of(name);
  if (!place) return std::nullopt;
  for (const auto& [kind, names] : variables_of(*place->entry))
    if (const auto index = place_in(names, place->variable))
      return StartQuantity{kind, name, place->subsystem, *index,
                           given_value(*place->entry, kind, *index)};
  return std::nullopt;
}

std::optional<VectorShape> StartNames::shape(const std::string& name) const {
  const auto place = place_of(name);
  if (!place) return std::nullopt;
  for (const auto& [kind, names] : variables_of(*place->entry)) {
    const auto last = std::find_if(names.rbegin(), names.rend(), [&](const std::string& each) {
      return is_element_of(each, place->variable);
    });
    if (last != names.rend()) return indices_of(*last);
  }
  return std::nullopt;
}

std::string StartNames::suggestion(const std::string& name) const {
  NameList all;
  if (const auto place = place_of(name)) {
    for (const auto& [kind, names] : variables_of(*place->entry))
      for (const std::string& each : names)
        all.push_back(place->entry->description.name + "." + each);
    return known("names", name, all);
  }
  for (const SubsystemEntry& entry : model_.subsystems) all.push_back(entry.description.name);
  return known("subsystems", name, all);
}

std::string StartNames::unit(const StartQuantity& what) const {
  const SubsystemEntry& entry = model_.subsystems[what.subsystem];
  const SubsystemDescription& d = entry.description;
  std::string result;
  if (what.kind == Kind::state || what.kind == Kind::rate) result = d.states[what.index].unit;
  if (what.kind == Kind::output) result = d.outputs[what.index].unit;
  if (what.kind == Kind::input) result = d.inputs[what.index].unit;
  if (what.kind == Kind::parameter) {
    const std::string& name = entry.equations->parameters[what.index].name;
    const auto found = std::ranges::find_if(entry.equations->units,
                                            [&](const auto& each) { return each.name == name; });
    if (found != entry.equations->units.end()) result = found->text;
  }
  return what.kind == Kind::rate && !result.empty() ? "(" + result + ")/s" : result;
}

std::string StartNames::why_bound(const StartQuantity& what) const {
  const SubsystemEntry& entry = model_.subsystems[what.subsystem];
  if (what.kind == Kind::output) return "is an output, which follows from states and inputs";
  if (what.kind == Kind::input && fed_.contains(what.name)) return "is an input that is fed";
  if (what.kind != Kind::parameter && !entry.type->take_starts)
    return "belongs to a subsystem of kind " + entry.description.kind +
           ", whose start values cannot be set";
  if (what.kind == Kind::input && !entry.description.inputs[what.index].start)
    return "is an input without a start value";
  return "";
}

}  // namespace concord

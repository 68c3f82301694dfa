#include "network/written_parts.hpp"

#include <algorithm>
#include <utility>

namespace concord {
namespace {

bool stands_before(const SubsystemEntry& a, const SubsystemEntry& b) { return a.place < b.place; }

WrittenPart alone(const SubsystemEntry& entry, std::size_t k, const Network& network) {
  WrittenPart part{&entry, k, 0, network.outputs_of(k), network.states_of(k), {}};
  const IndexRange inputs = network.inputs_of(k);
  for (std::size_t i = inputs.first; i < inputs.last; ++i) part.inputs.push_back({i, {}});
  return part;
}

/// Of subsystem k of the network; variables within follow one another as there.
void add_members(const Model& inside, std::size_t k, int group, const Network& network,
                 std::vector<WrittenPart>& parts) {
  const Network within(inside);
  std::size_t input = network.inputs_of(k).first;
  const auto shifted = [](IndexRange range, IndexRange by) {
    return IndexRange{by.first + range.first, by.first + range.last};
  };
  for (std::size_t m = 0; m < inside.subsystems.size(); ++m) {
    WrittenPart part{&inside.subsystems[m],
                     k,
                     group,
                     shifted(within.outputs_of(m), network.outputs_of(k)),
                     shifted(within.states_of(m), network.states_of(k)),
                     {}};
    const IndexRange inputs = within.inputs_of(m);
    for (std::size_t i = inputs.first; i < inputs.last; ++i) {
      std::optional<Link> link = within.links()[i];
      if (link) link->output += network.outputs_of(k).first;
      part.inputs.push_back({link ? 0 : input++, link});
    }
    parts.push_back(std::move(part));
  }
}

}  // namespace

std::string whole_name(const SubsystemDescription& owner, const std::string& variable) {
  return is_group(owner) ? variable : owner.name + "." + variable;
}

std::vector<WrittenPart> written_parts(const Model& model, const Network& network) {
  std::vector<WrittenPart> parts;
  int groups = 0;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (is_group(entry.description))
      add_members(*entry.type->inside, k, ++groups, network, parts);
    else
      parts.push_back(alone(entry, k, network));
  }
  std::ranges::stable_sort(parts, [](const WrittenPart& a, const WrittenPart& b) {
    return stands_before(*a.entry, *b.entry);
  });
  return parts;
}

std::vector<const SubsystemEntry*> written_entries(const Model& model) {
  std::vector<const SubsystemEntry*> entries;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!is_group(entry.description)) {
      entries.push_back(&entry);
      continue;
    }
    for (const SubsystemEntry& member : entry.type->inside->subsystems) entries.push_back(&member);
  }
  std::ranges::stable_sort(entries, [](const SubsystemEntry* a, const SubsystemEntry* b) {
    return stands_before(*a, *b);
  });
  return entries;
}

WrittenVariables::WrittenVariables(const Model& model, const Network& network)
    : network_(network), grouped_(std::ranges::any_of(model.subsystems, [](const auto& entry) {
        return is_group(entry.description);
      })) {
  if (!grouped_) return;
  const auto add = [](const SubsystemDescription& owner, const auto& variables, const auto& place,
                      auto& to) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      to.names.push_back(whole_name(owner, variables[i].name));
      to.places.push_back(place(i));
    }
  };
  for (const WrittenPart& part : written_parts(model, network)) {
    const SubsystemDescription& d = part.entry->description;
    add(
        d, d.outputs, [&](std::size_t i) { return part.outputs.first + i; }, outputs_);
    add(
        d, d.states, [&](std::size_t i) { return part.states.first + i; }, states_);
    add(
        d, d.inputs, [&](std::size_t i) { return part.inputs[i]; }, inputs_);
  }
}

}  // namespace concord

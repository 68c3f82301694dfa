#include "network/network.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <unordered_map>

#include "concord/errors.hpp"
#include "network/jump_watch.hpp"
#include "network/strong_components.hpp"
#include "network/written_parts.hpp"
#include "support/options.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;

Index index_of(const std::vector<std::string>& names) {
  Index index;
  index.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    index.emplace(names[i], i);
  }
  return index;
}

/// Where there are none yet; a part's variables are those of this section.
template <class Parts, class Section>
const std::vector<std::string>& put_together(const Parts& parts, Section section,
                                             std::vector<std::string>& names) {
  if (!names.empty()) return names;
  for (const auto& part : parts)
    for (const auto& variable : part.*section) names.push_back(part.before + variable.name);
  return names;
}

bool before(const Feedthrough& a, const Feedthrough& b) { return a.output < b.output; }

std::string at(const Location& location) { return location.empty() ? "" : location + ": "; }

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  if (const auto similar = nearest(word, candidates)) {
    return "; did you mean '" + *similar + "'?";
  }
  if (candidates.empty()) {
    return "; there are none";
  }
  const std::size_t shown = std::min<std::size_t>(candidates.size(), 12);
  return "; known: " + joined(std::span(candidates).first(shown)) +
         (shown < candidates.size() ? ", ..." : "");
}

template <class Variables>
std::vector<std::string> names_in(const Variables& variables) {
  std::vector<std::string> names;
  for (const auto& variable : variables) {
    names.push_back(variable.name);
  }
  return names;
}

/// Of a name that is on the other side, or of what is like it.
std::string way_out(const SubsystemDescription& description, const std::string& name,
                    bool is_output) {
  const auto outputs = names_in(description.outputs), inputs = names_in(description.inputs);
  const auto& others = is_output ? inputs : outputs;
  if (std::find(others.begin(), others.end(), name) != others.end())
    return std::string("; it is an ") + (is_output ? "input" : "output") +
           ": arrows lead from outputs to inputs (output -> input)";
  return suggestion(name, is_output ? outputs : inputs);
}

/// Explains why "subsystem.variable" is unknown: which half is wrong, and what would be right.
[[noreturn]] void refuse_name(const Model& model, const std::string& name, bool is_output,
                              const Location& location) {
  const SubsystemDescription* owner = nullptr;
  for (const auto& entry : model.subsystems) {
    const std::string& candidate = entry.description.name;
    if (name.starts_with(candidate + ".") &&
        (owner == nullptr || candidate.size() > owner->name.size())) {
      owner = &entry.description;
    }
  }
  if (owner != nullptr) {
    const std::string variable = name.substr(owner->name.size() + 1);
    throw InputError(at(location) + "subsystem '" + owner->name + "' has no " +
                     (is_output ? "output" : "input") + " '" + variable + "'" +
                     way_out(*owner, variable, is_output));
  }
  const std::string subsystem = name.substr(0, name.find('.'));
  std::vector<std::string> known;
  for (const auto& entry : model.subsystems) {
    known.push_back(entry.description.name);
    if (known.back().starts_with(subsystem + "[")) {
      throw InputError(at(location) + "'" + subsystem + "' is repeated: write " + known.back() +
                       " for one of them, or {connect: \"... " + subsystem +
                       "[i]...\", repeat: {i: [1, n]}} for all, not '" + name + "'");
    }
  }
  throw InputError(at(location) + "unknown subsystem '" + subsystem + "' in '" + name + "'" +
                   suggestion(subsystem, known));
}

std::size_t require(const Index& index, const Model& model, const std::string& name, bool is_output,
                    const Location& location) {
  const auto found = index.find(name);
  if (found == index.end()) {
    refuse_name(model, name, is_output, location);
  }
  return found->second;
}

UnitConversion require_conversion(const ConnectionEntry& connection, const std::string& from,
                                  const std::string& to) {
  const auto result = unit_conversion(from, to);
  if (const auto* conversion = std::get_if<UnitConversion>(&result)) {
    return *conversion;
  }
  const std::string place = at(connection.location) + connection.from + " [" + from + "] -> " +
                            connection.to + " [" + to + "]: ";
  switch (std::get<UnitProblem>(result)) {
    case UnitProblem::unknown_from:
      throw InputError(place + "unknown unit '" + from + "'" + unit_suggestion(from) +
                       "; correct it or leave it out");
    case UnitProblem::unknown_to:
      throw InputError(place + "unknown unit '" + to + "'" + unit_suggestion(to) +
                       "; correct it or leave it out");
    case UnitProblem::periods_and_angles:
      throw InputError(place + "the units don't match: '" + from + "' and '" + to +
                       "' differ by 2 pi, as Hz counts periods and not angles; write rev/s for "
                       "revolutions, or 1/s");
    case UnitProblem::different_dimensions:
      break;
  }
  throw InputError(place + "the units don't match: '" + from + "' cannot be converted to '" + to +
                   "'; correct the connection or the units");
}

std::size_t block_of(const std::vector<std::size_t>& offset, std::size_t index) {
  return static_cast<std::size_t>(std::upper_bound(offset.begin(), offset.end(), index) -
                                  offset.begin()) -
         1;
}

}  // namespace

Network::Network(const Model& model)
    : text_links_(concord::text_links(model)), has_texts_(concord::has_texts(model)) {
  number(model);
  connect(model);
  require_fed_inputs(model);
  find_components();
}

void Network::number(const Model& model) {
  parts_.reserve(model.subsystems.size());
  for (const auto& entry : model.subsystems) {
    const auto& d = entry.description;
    for (const auto& [output, input] : d.feedthrough) {
      feedthrough_.push_back({output_offset_.back() + output, input_offset_.back() + input});
    }
    constraints_.push_back(d.constraint);
    has_events_ = has_events_ || d.events;
    has_black_boxes_ = has_black_boxes_ || is_black_box(d);
    input_offset_.push_back(n_inputs() + d.inputs.size());
    output_offset_.push_back(n_outputs() + d.outputs.size());
    state_offset_.push_back(n_states() + d.states.size());
    parts_.push_back({whole_name(d, ""), d.inputs, d.outputs, d.states, d.one_per_process});
  }
  std::stable_sort(feedthrough_.begin(), feedthrough_.end(), before);
  links_.resize(n_inputs());
}

const std::vector<std::string>& Network::input_names() const {
  return put_together(parts_, &Part::inputs, input_names_);
}

const std::vector<std::string>& Network::output_names() const {
  return put_together(parts_, &Part::outputs, output_names_);
}

const std::vector<std::string>& Network::state_names() const {
  return put_together(parts_, &Part::states, state_names_);
}

std::string Network::input_name(std::size_t input) const {
  const std::size_t k = subsystem_of_input(input);
  return parts_[k].before + parts_[k].inputs[input - input_offset_[k]].name;
}

std::string Network::output_name(std::size_t output) const {
  const std::size_t k = subsystem_of_output(output);
  return parts_[k].before + parts_[k].outputs[output - output_offset_[k]].name;
}

void Network::connect(const Model& model) {
  std::vector<std::string> output_names, input_names;
  const Index outputs = index_of(put_together(parts_, &Part::outputs, output_names));
  const Index inputs = index_of(put_together(parts_, &Part::inputs, input_names));
  std::vector<char> is_held(n_inputs(), 0);
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> feeders(n_inputs(), none);
  for (std::size_t c = 0; c < model.connections.size(); ++c) {
    const ConnectionEntry connection = model.connections[c];
    const std::size_t output = require(outputs, model, connection.from, true, connection.location);
    const std::size_t input = require(inputs, model, connection.to, false, connection.location);
    if (feeders[input] != none) {
      const ConnectionEntry feeder = model.connections[feeders[input]];
      const Location& first = feeder.location;
      const bool elsewhere = !first.empty() && first != connection.location;
      throw InputError(at(connection.location) + "input '" + connection.to +
                       "' is fed twice: by '" + feeder.from + "' and by '" + connection.from +
                       "'; keep one of the two connections" +
                       (elsewhere ? " (the first is at " + first + ")" : ""));
    }
    feeders[input] = c;
    const std::size_t from = subsystem_of_output(output);
    const std::size_t to = subsystem_of_input(input);
    const auto& source = model.subsystems[from].description.outputs[output - output_offset_[from]];
    const auto& target = model.subsystems[to].description.inputs[input - input_offset_[to]];
    UnitConversion conversion;
    if (connection.converts_units && source.unit != target.unit && !source.unit.empty() &&
        !target.unit.empty()) {
      conversion = require_conversion(connection, source.unit, target.unit);
    }
    links_[input] = Link{output, connection.factor * conversion.factor,
                         connection.factor * conversion.offset + connection.offset, target.whole};
    const bool held =
        connection.held || source.kind == SignalKind::held || target.kind == SignalKind::held;
    is_held[input] = held ? 1 : 0;
    has_held_ = has_held_ || held;
  }
  if (!has_held_) return;
  coupled_ = links_;
  for (std::size_t i = 0; i < n_inputs(); ++i)
    if (is_held[i] != 0) coupled_[i].reset();
}

void Network::require_fed_inputs(const Model& model) const {
  for (std::size_t k = 0; k < n_subsystems(); ++k) {
    const auto& entry = model.subsystems[k];
    for (std::size_t i = 0; i < entry.description.inputs.size(); ++i) {
      if (!links_[input_offset_[k] + i] && !entry.description.inputs[i].start) {
        throw InputError(at(entry.location) + "input '" + input_name(input_offset_[k] + i) +
                         "' is fed by nothing and has no start value; add a connection '... -> " +
                         input_name(input_offset_[k] + i) + "' or a start value");
      }
    }
  }
}

bool Network::has_constraints() const {
  return std::any_of(constraints_.begin(), constraints_.end(),
                     [](const auto& constraint) { return constraint.has_value(); });
}

std::optional<std::string> Network::connection(std::size_t input) const {
  const auto& link = links_[input];
  if (!link || constraint(subsystem_of_input(input))) {
    return std::nullopt;
  }
  return output_name(link->output) + " -> " + input_name(input);
}

std::size_t Network::subsystem_of_input(std::size_t input) const {
  return block_of(input_offset_, input);
}

std::size_t Network::subsystem_of_output(std::size_t output) const {
  return block_of(output_offset_, output);
}

std::size_t Network::subsystem_of_state(std::size_t state) const {
  return block_of(state_offset_, state);
}

std::vector<std::vector<std::size_t>> Network::output_successors(
    const std::vector<std::optional<Link>>& links) const {
  std::vector<std::vector<std::size_t>> successors(n_outputs());
  for (const auto& [output, input] : feedthrough_) {
    if (links[input]) {
      successors[links[input]->output].push_back(output);
    }
  }
  return successors;
}

void Network::add_component(std::vector<std::size_t> outputs,
                            const std::vector<std::vector<std::size_t>>& successors) {
  const auto& own = successors[outputs.front()];
  const bool self = std::find(own.begin(), own.end(), outputs.front()) != own.end();
  components_.push_back({std::move(outputs), false});
  components_.back().loop = components_.back().outputs.size() > 1 || self;
}

/// The components that are left of a larger one with fewer edges.
void Network::add_parts(const std::vector<std::size_t>& outputs,
                        const std::vector<std::vector<std::size_t>>& successors) {
  std::vector<std::vector<std::size_t>> inside(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const std::size_t to : successors[outputs[i]]) {
      const auto found = std::lower_bound(outputs.begin(), outputs.end(), to);
      if (found != outputs.end() && *found == to) {
        inside[i].push_back(static_cast<std::size_t>(found - outputs.begin()));
      }
    }
  }
  for (auto& component : strong_components(inside)) {
    for (std::size_t& output : component) {
      output = outputs[output];
    }
    add_component(std::move(component), successors);
  }
}

/// Held inputs have their place in the order and cut loops: what closes through them alone is no
/// algebraic loop.
void Network::find_components() {
  const auto successors = output_successors(links_);
  const auto coupled = output_successors(coupled_links());
  for (auto& outputs : strong_components(successors)) {
    if (has_held_ && outputs.size() > 1) {
      std::sort(outputs.begin(), outputs.end());
      add_parts(outputs, coupled);
    } else {
      add_component(std::move(outputs), coupled);
    }
  }
  has_feedthrough_ = std::any_of(successors.begin(), successors.end(),
                                 [](const auto& list) { return !list.empty(); });
}

bool Network::has_loops() const {
  return std::any_of(components_.begin(), components_.end(),
                     [](const auto& component) { return component.loop; });
}

std::span<const Feedthrough> Network::feedthrough_to(std::size_t output) const {
  const auto [first, last] =
      std::equal_range(feedthrough_.begin(), feedthrough_.end(), Feedthrough{output, 0}, before);
  return {first, last};
}

/// Breadth-first from one output back to itself, inside the component: a shortest cycle.
std::string Network::describe_loop(const FeedthroughComponent& loop) const {
  const std::size_t start = loop.outputs.front();
  std::unordered_map<std::size_t, std::vector<Feedthrough>> successors;
  for (const std::size_t reached : loop.outputs) {
    for (const Feedthrough& felt : feedthrough_to(reached)) {
      const auto& link = links_[felt.input];
      if (link && std::binary_search(loop.outputs.begin(), loop.outputs.end(), link->output)) {
        successors[link->output].push_back(felt);
      }
    }
  }
  std::unordered_map<std::size_t, Feedthrough> reached_by;  // output -> (previous output, input)
  std::queue<std::size_t> open;
  open.push(start);
  while (!open.empty() && !reached_by.contains(start)) {
    const std::size_t from = open.front();
    open.pop();
    for (const auto& [output, input] : successors[from]) {
      if (reached_by.emplace(output, Feedthrough{from, input}).second) {
        open.push(output);
      }
    }
  }
  std::vector<std::string> way;
  for (std::size_t output = start; way.empty() || output != start;) {
    const auto [previous, input] = reached_by.at(output);
    way.push_back(output_name(previous) + " -> " + input_name(input) + " -> ");
    output = previous;
  }
  std::reverse(way.begin(), way.end());
  constexpr std::size_t longest = 8, shown = 3;
  std::string rest;
  if (way.size() > longest) {
    rest = "... (" + std::to_string(way.size()) + " connections) -> ";
    way.resize(shown);
  }
  return std::accumulate(way.begin(), way.end(), std::string()) + rest + output_name(start);
}

Partition Partition::on_one_rank(const Network& network) {
  return Partition(std::vector<int>(network.n_subsystems(), 0));
}

std::vector<std::size_t> Partition::subsystems_of(int rank) const {
  std::vector<std::size_t> own;
  for (std::size_t k = 0; k < rank_of_.size(); ++k) {
    if (rank_of_[k] == rank) {
      own.push_back(k);
    }
  }
  return own;
}

}  // namespace concord

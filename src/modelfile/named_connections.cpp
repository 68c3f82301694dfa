#include "modelfile/named_connections.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/text_ports.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::string_view all_names = ".*", all_indices = "[*]";

bool by_name(const ConnectionEntry& connection) {
  return connection.from.ends_with(all_names) || connection.to.ends_with(all_names) ||
         connection.to.find(all_indices) != std::string::npos;
}

std::string without(const std::string& text, std::string_view end) {
  return text.substr(0, text.size() - end.size());
}

/// "T" of "T[3]": arrays are connected whole.
std::string name_of_whole(const std::string& name) {
  return name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
}

/// Each once, in their order.
template <class Variables>
std::vector<std::string> whole_names(const Variables& variables) {
  std::vector<std::string> result;
  for (const auto& variable : variables)
    if (std::string name = name_of_whole(variable.name); result.empty() || name != result.back())
      result.push_back(std::move(name));
  return result;
}

/// Numbers, then texts.
template <class Variables>
std::vector<std::string> whole_names(const SubsystemEntry& entry, const Variables& numbers,
                                     std::vector<TextVariable> TextInterface::*side) {
  std::vector<std::string> result = whole_names(numbers);
  if (!entry.type->texts) return result;
  for (std::string& name : whole_names(entry.type->texts.get()->*side))
    result.push_back(std::move(name));
  return result;
}

/// What subsystems and systems put out and take in.
class Owners {
 public:
  explicit Owners(const Model& model) {
    for (const SubsystemEntry& entry : model.subsystems)
      add(entry.description.name, {&entry, nullptr});
    for (const SystemEntry& system : model.systems) add(system.name, {nullptr, &system});
  }

  std::vector<std::string> outputs(const std::string& owner, const Location& location) const {
    const auto [subsystem, system] = find(owner, location);
    return subsystem != nullptr
               ? whole_names(*subsystem, subsystem->description.outputs, &TextInterface::outputs)
               : whole_names(system->outputs);
  }
  std::vector<std::string> inputs(const std::string& owner, const Location& location) const {
    const auto [subsystem, system] = find(owner, location);
    return subsystem != nullptr
               ? whole_names(*subsystem, subsystem->description.inputs, &TextInterface::inputs)
               : whole_names(system->inputs);
  }

  /// "room[1]", "room[2]" ... of "room[*]"; any other name is itself.
  std::vector<std::string> like(const std::string& pattern, const Location& location) const {
    const std::size_t place = pattern.find(all_indices);
    if (place == pattern.npos) return {pattern};
    const std::string begin = pattern.substr(0, place + 1);
    const std::string end = pattern.substr(place + all_indices.size() - 1);
    std::vector<std::string> result;
    for (const std::string& name : names_) {
      const std::size_t close = name.find(']', begin.size());
      if (name.starts_with(begin) && close != name.npos && name.substr(close) == end)
        result.push_back(name);
    }
    if (result.empty()) refuse_strange(pattern, location);
    return result;
  }

 private:
  using Owner = std::pair<const SubsystemEntry*, const SystemEntry*>;  ///< one of them

  void add(const std::string& name, Owner owner) {
    owners_.emplace(name, owner);
    names_.push_back(name);
  }

  const Owner& find(const std::string& name, const Location& location) const {
    const auto found = owners_.find(name);
    if (found == owners_.end()) refuse_strange(name, location);
    return found->second;
  }

  [[noreturn]] void refuse_strange(const std::string& name, const Location& location) const {
    throw InputError(location + ": there is no subsystem " + in_quotes(name) + "; " +
                     known("subsystems", name, names_));
  }

  std::unordered_map<std::string, Owner> owners_;
  std::vector<std::string> names_;
};

std::string written(const ConnectionEntry& connection) {
  return in_quotes(connection.from + " -> " + connection.to);
}

[[noreturn]] void refuse_half(const ConnectionEntry& connection) {
  throw InputError(connection.location + ": " + written(connection) +
                   " has all names, .*, at one end only; write subsystem.* -> subsystem.*, or name "
                   "the output and the input");
}

[[noreturn]] void refuse_empty(const ConnectionEntry& connection, const std::string& to,
                               const std::vector<std::string>& outputs,
                               const std::vector<std::string>& inputs) {
  throw InputError(connection.location + ": " + written(connection) +
                   " connects nothing: no output has the name of an input of " + in_quotes(to) +
                   "; " + known("outputs", "", outputs) + "; " + known("inputs", "", inputs));
}

class NamedConnections {
 public:
  explicit NamedConnections(Model& model) : model_(model), owners_(model) {}

  void write_out() {
    const ConnectionList written = std::exchange(model_.connections, {});
    for (const ConnectionEntry& connection : written) {
      if (by_name(connection))
        add_all_of(connection);
      else
        model_.connections.push_back(connection);
    }
  }

 private:
  void add_all_of(const ConnectionEntry& connection) {
    if (connection.from.ends_with(all_names) != connection.to.ends_with(all_names))
      refuse_half(connection);
    const bool named = connection.from.ends_with(all_names);
    const std::size_t dot = connection.to.rfind('.');
    for (const std::string& to : owners_.like(connection.to.substr(0, dot), connection.location)) {
      if (named)
        join(connection, without(connection.from, all_names), to);
      else
        add(connection, connection.from, to + connection.to.substr(dot));
    }
  }

  void join(const ConnectionEntry& connection, const std::string& from, const std::string& to) {
    const std::vector<std::string> outputs = owners_.outputs(from, connection.location);
    const std::vector<std::string> inputs = owners_.inputs(to, connection.location);
    const std::unordered_set<std::string> fed(inputs.begin(), inputs.end());
    std::vector<std::string> names;
    std::ranges::copy_if(outputs, std::back_inserter(names),
                         [&](const std::string& name) { return fed.contains(name); });
    if (names.empty()) refuse_empty(connection, to, outputs, inputs);
    for (const std::string& name : names) add(connection, from + "." + name, to + "." + name);
    note(connection, names);
  }

  /// Of connections that are repeated the first one.
  void note(const ConnectionEntry& connection, const std::vector<std::string>& names) {
    const std::string text = connection.location + ": " + connection.from + " -> " + connection.to;
    std::string round = text;
    std::erase_if(round, [](char c) { return c >= '0' && c <= '9'; });
    if (noted_.insert(std::move(round)).second)
      model_.notes.push_back(text + " connects " + joined(names));
  }

  void add(ConnectionEntry connection, const std::string& from, const std::string& to) {
    connection.from = from;
    connection.to = to;
    model_.connections.push_back(connection);
  }

  Model& model_;
  Owners owners_;
  std::unordered_set<std::string> noted_;  ///< without numbers
};

}  // namespace

void connect_by_name(Model& model) {
  if (std::ranges::any_of(model.connections, by_name)) NamedConnections(model).write_out();
}

}  // namespace concord

#include "modelfile/array_connections.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// From the bracket at `open` on: "[1,2]".
std::string_view bracketed(std::string_view text, std::size_t open) {
  const std::size_t close = text.find(']', open);
  return text.substr(open, close == text.npos ? text.npos : close + 1 - open);
}

bool is_index(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == text.npos;
}

/// What comes before the next comma or bracket; both go.
std::string_view take_index(std::string_view& list) {
  const std::size_t end = std::min(list.find_first_of(",]"), list.size());
  const std::string_view index = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return index;
}

bool has_whole_index(std::string_view text) {
  for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
    std::string_view indices = bracketed(text, at).substr(1);
    while (!indices.empty()) {
      if (take_index(indices) == ":") {
        return true;
      }
    }
  }
  return false;
}

/// "[:]" stands for indices of any number of dimensions, "[:,2]" for a column.
bool indices_fit(std::string_view wanted, std::string_view found) {
  const bool any_dimensions = wanted == "[:]";
  wanted.remove_prefix(1);
  found.remove_prefix(1);
  while (!found.empty()) {
    const std::string_view index = take_index(found);
    const std::string_view choice = any_dimensions ? ":" : take_index(wanted);
    if (choice == ":" ? !is_index(index) : choice != index) {
      return false;
    }
  }
  return any_dimensions || wanted.empty();
}

bool stands_for(std::string_view path, std::string_view name) {
  while (!path.empty() && !name.empty()) {
    if (path.front() != name.front()) {
      return false;
    }
    const bool index = path.front() == '[';
    const std::string_view wanted = index ? bracketed(path, 0) : path.substr(0, 1);
    const std::string_view found = index ? bracketed(name, 0) : name.substr(0, 1);
    if (index && !indices_fit(wanted, found)) {
      return false;
    }
    path.remove_prefix(wanted.size());
    name.remove_prefix(found.size());
  }
  return path.empty() && name.empty();
}

/// Finds variables of subsystems.
class Search {
 public:
  explicit Search(const Model& model) : model_(model) {
    for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
      places_.emplace(model.subsystems[k].description.name, k);
    }
  }

  /// Those of one `list` that `path` stands for; `role` is what they are.
  template <class List>
  std::vector<std::string> find(const std::string& path, List list, const std::string& role,
                                const Location& location) const {
    const std::size_t dot = end_of_owner(path);
    const std::string owner = path.substr(0, dot);
    const std::string_view variable = std::string_view(path).substr(dot + 1);
    std::vector<std::string> result, others;
    for (const std::size_t k : subsystems(owner, location)) {
      const SubsystemDescription& description = model_.subsystems[k].description;
      for (const auto& each : description.*list) {
        const std::string name = description.name + "." + each.name;
        (stands_for(variable, each.name) ? result : others).push_back(name);
      }
    }
    if (result.empty()) {
      throw InputError(location + ": " + in_quotes(path) + " stands for no " + role + "; " +
                       known(role + "s", path, others));
    }
    return result;
  }

 private:
  /// The longest beginning that is a subsystem's name, where there is one.
  std::size_t end_of_owner(const std::string& path) const {
    for (std::size_t dot = path.rfind('.'); dot != path.npos && dot > 0;
         dot = path.rfind('.', dot - 1)) {
      const std::string owner = path.substr(0, dot);
      const bool there = places_.contains(owner) ||
                         std::ranges::any_of(model_.subsystems, [&](const SubsystemEntry& entry) {
                           return stands_for(owner, entry.description.name);
                         });
      if (there) return dot;
    }
    return path.find('.');
  }

  std::vector<std::size_t> subsystems(const std::string& owner, const Location& location) const {
    std::vector<std::size_t> result;
    if (const auto found = places_.find(owner); found != places_.end()) {
      return {found->second};
    }
    std::vector<std::string> names;
    for (std::size_t k = 0; k < model_.subsystems.size(); ++k) {
      names.push_back(model_.subsystems[k].description.name);
      if (stands_for(owner, names.back())) {
        result.push_back(k);
      }
    }
    if (result.empty()) {
      throw InputError(location + ": there is no subsystem " + in_quotes(owner) + "; " +
                       known("subsystems", owner, names));
    }
    return result;
  }

  const Model& model_;
  std::unordered_map<std::string, std::size_t> places_;
};

[[noreturn]] void refuse_single(const ConnectionEntry& connection, const std::string& whole,
                                const std::string& single) {
  throw InputError(connection.location + ": " +
                   in_quotes(connection.from + " -> " + connection.to) +
                   " connects the whole array " + in_quotes(whole) + " with one variable, " +
                   in_quotes(single) + "; write [:] on both sides, or an index");
}

void connect_elements(const ConnectionEntry& connection, const Search& search,
                      std::vector<ConnectionEntry>& result) {
  const std::string &from = connection.from, &to = connection.to;
  const Location& location = connection.location;
  if (!has_whole_index(from)) {
    refuse_single(connection, to, from);
  }
  if (!has_whole_index(to)) {
    refuse_single(connection, from, to);
  }
  const auto outputs = search.find(from, &SubsystemDescription::outputs, "output", location);
  const auto inputs = search.find(to, &SubsystemDescription::inputs, "input", location);
  if (outputs.size() != inputs.size()) {
    throw InputError(location + ": " + in_quotes(from) + " has " + std::to_string(outputs.size()) +
                     " elements, but " + in_quotes(to) + " has " + std::to_string(inputs.size()) +
                     "; whole arrays must have the same number");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.push_back(connection);
    result.back().from = outputs[i];
    result.back().to = inputs[i];
  }
}

/// "rod.T" of "rod.T[1]", of all arrays that are put out or taken in, where that is no variable
/// itself.
std::unordered_set<std::string> names_of_arrays(const Model& model) {
  std::unordered_set<std::string> result;
  const auto add = [&](const std::string& owner, const auto& variables) {
    for (const auto& variable : variables) {
      if (variable.name.ends_with(']'))
        result.insert(owner + "." + variable.name.substr(0, variable.name.rfind('[')));
    }
  };
  const auto remove = [&](const std::string& owner, const auto& variables) {
    for (const auto& variable : variables) result.erase(owner + "." + variable.name);
  };
  for (const SubsystemEntry& entry : model.subsystems) {
    add(entry.description.name, entry.description.outputs);
    add(entry.description.name, entry.description.inputs);
  }
  for (const SubsystemEntry& entry : model.subsystems) {
    if (result.empty()) break;
    remove(entry.description.name, entry.description.outputs);
    remove(entry.description.name, entry.description.inputs);
  }
  return result;
}

/// The name of an array alone stands for all of it.
void write_out_arrays(Model& model) {
  const std::unordered_set<std::string> arrays = names_of_arrays(model);
  if (arrays.empty()) {
    return;
  }
  model.connections.change([&](ConnectionEntry& connection) {
    for (std::string* path : {&connection.from, &connection.to}) {
      if (arrays.contains(*path)) {
        *path += "[:]";
      }
    }
  });
}

}  // namespace

void connect_arrays(Model& model) {
  write_out_arrays(model);
  const auto whole = [](const ConnectionEntry& connection) {
    return has_whole_index(connection.from) || has_whole_index(connection.to);
  };
  if (std::none_of(model.connections.begin(), model.connections.end(), whole)) {
    return;
  }
  const Search search(model);
  std::vector<ConnectionEntry> result;
  for (const ConnectionEntry& connection : model.connections) {
    if (whole(connection)) {
      connect_elements(connection, search, result);
    } else {
      result.push_back(connection);
    }
  }
  model.connections = result;
}

}  // namespace concord

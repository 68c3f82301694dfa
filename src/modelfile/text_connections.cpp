#include "modelfile/text_connections.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "network/text_links.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/text_ports.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// An element of a text variable, by its whole name.
struct NamedText {
  std::string name;
  const TextVariable* variable = nullptr;
};

/// What a name stands for: one element, or all of an array.
using Texts = std::unordered_map<std::string, std::vector<NamedText>>;

Texts texts_in(const Model& model, std::vector<TextVariable> TextInterface::*side) {
  Texts result;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!entry.type->texts) continue;
    for (const TextVariable& variable : entry.type->texts.get()->*side) {
      const NamedText text{entry.description.name + "." + variable.name, &variable};
      result[text.name].push_back(text);
      if (!text.name.ends_with(']')) continue;
      const std::string whole = text.name.substr(0, text.name.rfind('['));
      result[whole].push_back(text);
      result[whole + "[:]"].push_back(text);
    }
  }
  return result;
}

/// Types that are alike and of which one says no more; anything where one says nothing.
bool agree(const std::string& one, const std::string& other) {
  const auto type = [](const std::string& mime) { return mime.substr(0, mime.find(';')); };
  const bool plain = one.find(';') == std::string::npos || other.find(';') == std::string::npos;
  return one == other || one.empty() || other.empty() || (plain && type(one) == type(other));
}

std::string without_index(const std::string& name) {
  return name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
}

/// "Float64" of an FMU's variable, "number" of another subsystem's; nothing where there is none.
std::optional<std::string> type_of(const Model& model, const std::string& name) {
  const std::string whole = without_index(name);
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    if (!name.starts_with(d.name + ".")) continue;
    const std::string own = whole.substr(d.name.size() + 1);
    const auto called = [&](const auto& variable) { return without_index(variable.name) == own; };
    if (entry.type->fmu)
      for (const FmiVariable& variable : entry.type->fmu->model->variables)
        if (variable.name == own) return name_of(variable.type);
    if (std::ranges::any_of(d.inputs, called) || std::ranges::any_of(d.outputs, called))
      return "number";
  }
  return std::nullopt;
}

class TextConnections {
 public:
  explicit TextConnections(Model& model)
      : model_(model),
        outputs_(texts_in(model, &TextInterface::outputs)),
        inputs_(texts_in(model, &TextInterface::inputs)) {}

  void take_out() {
    const ConnectionList all = std::exchange(model_.connections, {});
    for (const ConnectionEntry& connection : all) {
      const auto from = outputs_.find(connection.from), to = inputs_.find(connection.to);
      if (from == outputs_.end() && to == inputs_.end()) {
        model_.connections.push_back(connection);
        continue;
      }
      if (from == outputs_.end() || to == inputs_.end()) refuse_types(connection);
      require_plain(connection);
      connect(connection, from->second, to->second);
    }
  }

 private:
  static std::string at(const ConnectionEntry& connection) {
    return (connection.location.empty() ? "" : connection.location + ": ") + connection.from +
           " -> " + connection.to;
  }

  [[noreturn]] void refuse_types(const ConnectionEntry& connection) const {
    const auto from = type_of(model_, connection.from), to = type_of(model_, connection.to);
    const std::string& strange = from ? connection.to : connection.from;
    if (!from || !to)
      throw InputError(at(connection) + ": there is no " + (from ? "input " : "output ") +
                       in_quotes(strange) + " of texts or bytes; " + known_ends(!from, strange));
    if ((*from == "String" || *from == "Binary") && *from == *to)
      throw InputError(at(connection) + ": both are of type " + *from +
                       ", but arrows lead from outputs to inputs (output -> input)");
    refuse_types(connection, *from, *to);
  }
  [[noreturn]] static void refuse_types(const ConnectionEntry& connection, const std::string& from,
                                        const std::string& to) {
    throw InputError(at(connection) + ": " + in_quotes(connection.from) + " is of type " + from +
                     ", " + in_quotes(connection.to) + " of type " + to +
                     "; texts feed String, bytes Binary, numbers what is numeric");
  }

  std::string known_ends(bool outputs, const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [one, texts] : outputs ? outputs_ : inputs_) names.push_back(one);
    std::ranges::sort(names);
    return known(outputs ? "outputs" : "inputs", name, names);
  }

  void require_plain(const ConnectionEntry& connection) const {
    if (connection.delay != 0.0)
      throw InputError(at(connection) + ": texts and bytes cannot be delayed; leave delay out");
    if (connection.factor != 1.0 || connection.offset != 0.0)
      throw InputError(at(connection) +
                       ": texts and bytes have no factor and no offset; leave them out");
  }

  void connect(const ConnectionEntry& connection, const std::vector<NamedText>& from,
               const std::vector<NamedText>& to) {
    if (from.size() != to.size())
      throw InputError(at(connection) + ": " + in_quotes(connection.from) + " has " +
                       std::to_string(from.size()) + " elements, but " + in_quotes(connection.to) +
                       " has " + std::to_string(to.size()) +
                       "; whole arrays must have the same number");
    for (std::size_t i = 0; i < from.size(); ++i) {
      const TextVariable &output = *from[i].variable, &input = *to[i].variable;
      if (output.kind != input.kind)
        refuse_types(connection, name_of(output.kind), name_of(input.kind));
      if (!agree(output.mime, input.mime))
        throw InputError(at(connection) + ": the bytes are " + in_quotes(output.mime) +
                         " where they come from and " + in_quotes(input.mime) +
                         " where they lead to (mimeType); connect what has the same");
      ConnectionEntry element = connection;
      element.from = from[i].name;
      element.to = to[i].name;
      const auto [feeder, first] = feeders_.emplace(element.to, element.from);
      if (!first)
        throw InputError(at(connection) + ": input " + in_quotes(element.to) +
                         " is fed twice: by " + in_quotes(feeder->second) + " and by " +
                         in_quotes(element.from) + "; keep one of the two connections");
      model_.text_connections.push_back(element);
    }
  }

  Model& model_;
  Texts outputs_, inputs_;
  std::unordered_map<std::string, std::string> feeders_;
};

}  // namespace

void connect_texts(Model& model) {
  if (has_texts(model)) TextConnections(model).take_out();
}

}  // namespace concord

#include "export/ssp_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "concord/errors.hpp"
#include "export/attributes.hpp"
#include "expression/expression_scan.hpp"
#include "expression/relations.hpp"
#include "expression/user_functions.hpp"
#include "files/ssp_annotation.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Node = pugi::xml_node;
using Names = std::unordered_map<std::string, std::string>;

std::string number_text(double value) {
  return std::signbit(value) ? "(" + exact_number(value) + ")" : exact_number(value);
}

class NetworkAnnotation {
 public:
  NetworkAnnotation(const Model& model, const NameInSsp& name_in_ssp)
      : model_(model), name_in_ssp_(name_in_ssp) {}

  void add_to(Node system) {
    Node annotation = system.append_child("ssd:Annotations").append_child("ssc:Annotation");
    set(annotation, "type", network_annotation);
    Node network = annotation.append_child("concord:Network");
    set(network, "xmlns:concord", network_namespace);
    for (const double time : model_.listed_events)
      set(network.append_child("concord:Event"), "time", exact_number(time));
    for (const ConstraintEntry& constraint : model_.constraints) add(constraint, network);
    add_initial(network);
    for (const auto& [name, text] : functions_) add(name, text, network);
  }

 private:
  struct Text {
    std::string arguments, body;
    bool operator==(const Text&) const = default;
  };

  void add(const ConstraintEntry& constraint, Node network) {
    Node node = network.append_child("concord:Constraint");
    set(node, "unknown", constraint.unknown);
    set(node, "start", exact_number(constraint.start));
    Names outputs;
    for (const NameUse& use : names_used(constraint.equation))
      if (!use.called && !constraint.constants.contains(use.name))
        outputs.emplace(use.name, name_in_ssp_(StartQuantity::Kind::output, use.name));
    set(node, "equation",
        written(constraint.equation, outputs, constraint.constants, constraint.functions.get(),
                constraint.equation_location));
    for (const ConstraintFeed& feed : constraint.feeds) {
      Node input = node.append_child("concord:Feed");
      set(input, "input", feed.input);
      set(input, "factor", exact_number(feed.factor));
    }
  }

  /// Element by element; the first equation frees all that is free, in its order.
  void add_initial(Node network) {
    if (!model_.start_problem) return;
    for (const StartEquation& equation : model_.start_problem->equations) {
      Node node = network.append_child("concord:Initial");
      set(node, "equation", in_ssp(equation));
      if (&equation != &model_.start_problem->equations.front()) continue;
      for (const FreeStart& free : model_.start_problem->free) {
        if (free.what.kind == StartQuantity::Kind::parameter)
          throw InputError(free.location + ": initial equations find the parameter " +
                           in_quotes(free.what.name) +
                           ", which is fixed in the FMU that SSP holds; give what they find as its "
                           "value ('concord run " +
                           model_.source + "' tells it)");
        set(node.append_child("concord:Free"), "name",
            name_in_ssp_(free.what.kind, free.what.name));
      }
    }
  }

  std::string in_ssp(const StartEquation& equation) {
    Names names;
    for (const StartQuantity& each : equation.quantities) {
      using Kind = StartQuantity::Kind;
      if (each.kind == Kind::parameter)
        names.emplace(each.name, number_text(each.given));
      else
        names.emplace(each.name, name_in_ssp_(each.kind, each.name));
    }
    const InitialEntry& entry = model_.initial[equation.entry];
    return written(equation.text, names, entry.constants, entry.functions.get(), equation.location);
  }

  /// The expression with other names, numbers in the places of constants, and its functions known.
  std::string written(const std::string& text, const Names& names,
                      const std::unordered_map<std::string, double>& constants,
                      const UserFunctions* functions, const Location& location) {
    return with_names(text, [&](const NameUse& use) -> std::optional<std::string> {
      if (use.called) {
        if (find_own(functions, use.name)) know(use.name, *functions, constants, location);
        return std::nullopt;
      }
      if (const auto name = names.find(use.name); name != names.end()) return name->second;
      const auto constant = constants.find(use.name);
      return constant == constants.end() ? std::nullopt
                                         : std::optional(number_text(constant->second));
    });
  }

  /// With those that it calls.
  void know(const std::string& name, const UserFunctions& functions,
            const std::unordered_map<std::string, double>& constants, const Location& location) {
    UserFunctions own = functions;
    own.replace_parameters(std::map<std::string, double>(constants.begin(), constants.end()));
    const UserFunction& function = *own.find(name);
    if (function.map)
      throw InputError(location + ": calls the map " + in_quotes(name) +
                       ", whose rows SSP has no place for; let an output of a subsystem have its "
                       "value, and name that");
    const Text text{joined(function.arguments, " "), in_words(function.body)};
    const auto [known, is_new] = functions_.emplace(name, text);
    if (!is_new && known->second != text)
      throw InputError(location + ": calls the function " + in_quotes(name) +
                       ", which is another one elsewhere; give them different names");
    if (!is_new) return;
    for (const NameUse& use : names_used(text.body))
      if (use.called && functions.find(use.name)) know(use.name, functions, constants, location);
  }

  static void add(const std::string& name, const Text& text, Node network) {
    Node node = network.append_child("concord:Function");
    set(node, "name", name);
    set(node, "arguments", text.arguments);
    node.text() = text.body.c_str();
  }

  const Model& model_;
  const NameInSsp& name_in_ssp_;
  std::map<std::string, Text> functions_;
};

}  // namespace

bool has_network_annotation(const Model& model) {
  return !model.listed_events.empty() || !model.constraints.empty() || !model.initial.empty();
}

void add_network_annotation(const Model& model, const NameInSsp& name_in_ssp, Node system) {
  NetworkAnnotation(model, name_in_ssp).add_to(system);
}

}  // namespace concord

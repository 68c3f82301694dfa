#include "modelfile/ssp/ssp_network.hpp"

#include <memory>
#include <sstream>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/user_functions.hpp"
#include "modelfile/ssp/ssp_xml.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Node = pugi::xml_node;

class NetworkReader {
 public:
  NetworkReader(const NameOfElement& name_of, const std::string& place, Model& model)
      : name_of_(name_of), place_(place), model_(model) {}

  void read(const Node& network) {
    read_functions(network);
    for (const Node node : children_named(network, "Event"))
      model_.events.push_back(number(node, "time"));
    for (const Node node : children_named(network, "Constraint")) read_constraint(node);
    for (const Node node : children_named(network, "Initial")) read_initial(node);
  }

 private:
  double number(const Node& node, const char* attribute) const {
    const auto value = parse_number(text(node, attribute));
    if (!value)
      throw InputError(place_ + ": the attribute " + attribute + " of <" +
                       std::string(local_name(node)) + "> must be a number, not " +
                       in_quotes(text(node, attribute)));
    return *value;
  }

  std::string equation(const Node& node) const {
    return with_names(text(node, "equation"),
                      [&](const NameUse& use) -> std::optional<std::string> {
                        if (use.called || use.name.find('.') == std::string::npos)
                          return std::nullopt;
                        return name_of_(use.name);
                      });
  }

  void read_functions(const Node& network) {
    const auto nodes = children_named(network, "Function");
    if (nodes.empty()) return;
    auto functions = std::make_shared<UserFunctions>();
    ExpressionNames names;
    names.functions = functions;
    const auto placed = [&](const Node& node) {
      return place_ + ": function " + in_quotes(text(node, "name"));
    };
    for (const Node& node : nodes) {
      UserFunction function;
      function.name = text(node, "name");
      function.location = place_;
      std::istringstream arguments(text(node, "arguments"));
      for (std::string argument; arguments >> argument;) function.arguments.push_back(argument);
      if (function.arguments.empty() || !functions->add(std::move(function)))
        throw InputError(placed(node) + " is there twice, or has no arguments");
    }
    for (const Node& node : nodes) {
      ExpressionNames known = names;
      for (const std::string& argument : functions->find(text(node, "name"))->arguments)
        known.constants[argument] = 0.0;
      functions->set_body(text(node, "name"),
                          read_expression({node.text().as_string(), placed(node)}, known));
    }
    functions->complete();
    functions_ = std::move(functions);
  }

  void read_constraint(const Node& node) {
    ConstraintEntry entry;
    entry.unknown = text(node, "unknown");
    entry.start = number(node, "start");
    entry.equation = equation(node);
    entry.functions = functions_;
    entry.location = entry.equation_location = place_;
    for (const Node feed : children_named(node, "Feed"))
      entry.feeds.push_back({name_of_(text(feed, "input")), number(feed, "factor"), place_});
    if (!is_name(entry.unknown) || entry.feeds.empty())
      throw InputError(place_ + ": the constraint " + in_quotes(entry.unknown) +
                       " needs a name of letters, digits and _, and an input that it feeds");
    model_.constraints.push_back(std::move(entry));
  }

  /// What is free is said with it, or nothing is.
  void read_initial(const Node& node) {
    InitialEntry entry;
    entry.equation = equation(node);
    entry.functions = functions_;
    entry.location = place_;
    entry.free.emplace();
    for (const Node free : children_named(node, "Free"))
      entry.free->push_back(name_of_(text(free, "name")));
    model_.initial.push_back(std::move(entry));
  }

  const NameOfElement& name_of_;
  const std::string& place_;
  Model& model_;
  std::shared_ptr<const UserFunctions> functions_;
};

}  // namespace

void read_network_annotation(const Node& network, const NameOfElement& name_of,
                             const std::string& place, Model& model) {
  NetworkReader(name_of, place, model).read(network);
}

}  // namespace concord

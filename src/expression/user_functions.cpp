#include "expression/user_functions.hpp"

#include <algorithm>
#include <utility>

#include "concord/errors.hpp"
#include "expression/functions.hpp"
#include "expression/tree_walk.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t deepest_calls = 1000;  // calls

/// Every node once, in no order.
template <class Visit>
void for_each_node(const Expression& tree, Visit&& visit) {
  std::vector<const ExpressionNode*> open = {tree.get()};
  while (!open.empty()) {
    const ExpressionNode& node = *open.back();
    open.pop_back();
    visit(node);
    for (const Expression& argument : node.arguments) open.push_back(argument.get());
  }
}

}  // namespace

std::string in_words(const UserFunction& function) {
  return function.name + "(" + joined(function.arguments) + ")";
}

const UserFunction* UserFunctions::find(const std::string& name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<std::string> UserFunctions::names() const {
  std::vector<std::string> result;
  for (const auto& entry : all_) result.push_back(entry.first);
  return result;
}

bool UserFunctions::add(UserFunction function) {
  const std::string name = function.name;
  return all_.emplace(name, std::move(function)).second;
}

void UserFunctions::set_body(const std::string& name, Expression body) {
  all_.at(name).body = std::move(body);
}

void UserFunctions::complete() {
  std::vector<std::string> path;
  for (auto& [name, function] : all_) complete(function, path);
}

void UserFunctions::complete(UserFunction& function, std::vector<std::string>& path) {
  if (complete_.contains(function.name) || !function.body) return;
  const auto begin = std::find(path.begin(), path.end(), function.name) - path.begin();
  path.push_back(function.name);
  if (begin + 1 < std::ssize(path))
    throw InputError(function.location + ": the functions " +
                     joined({path.begin() + begin, path.end()}, " -> ") +
                     " call each other in a circle, which never ends; let one do without");
  for_each_node(function.body, [&](const ExpressionNode& node) {
    const auto called = node.kind == Kind::call ? all_.find(node.symbol) : all_.end();
    if (called != all_.end()) {
      if (path.size() <= deepest_calls) complete(called->second, path);
      const UserFunction& other = called->second;
      function.parameters.insert(other.parameters.begin(), other.parameters.end());
      function.depth = std::max(function.depth, other.depth + 1);
    }
    if (node.kind == Kind::name && !find_constant(node.symbol) &&
        std::ranges::find(function.arguments, node.symbol) == function.arguments.end())
      function.parameters.insert(node.symbol);
  });
  if (std::max(function.depth, path.size()) > deepest_calls)
    throw InputError(function.location + ": functions call each other more than " +
                     std::to_string(deepest_calls) + " levels deep; let them do with fewer");
  path.pop_back();
  complete_.insert(function.name);
}

bool UserFunctions::use(const std::string& parameter) const {
  return std::ranges::any_of(
      all_, [&](const auto& entry) { return entry.second.parameters.contains(parameter); });
}

void UserFunctions::replace_parameters(const std::map<std::string, double>& values) {
  const auto nothing_whole = [](const Expression&, std::vector<Expression>&) { return false; };
  for (auto& [name, function] : all_) {
    const auto replaced = [&](const Expression& node, const std::vector<Expression>& arguments) {
      const auto value = node->kind == Kind::name ? values.find(node->symbol) : values.end();
      const bool its_own =
          std::ranges::find(function.arguments, node->symbol) != function.arguments.end();
      if (value == values.end() || its_own) return with_arguments(node, arguments);
      return number_node(value->second);
    };
    if (function.body)
      function.body = from_leaves<Expression>(function.body, nothing_whole, replaced);
    for (const auto& [parameter, value] : values) function.parameters.erase(parameter);
  }
}

const UserFunction* find_own(const UserFunctions* functions, const std::string& name) {
  return functions == nullptr ? nullptr : functions->find(name);
}

std::string unknown_function(const std::string& name, const UserFunctions* own) {
  std::vector<std::string> all(function_names().begin(), function_names().end());
  if (own != nullptr) std::ranges::copy(own->names(), std::back_inserter(all));
  return "unknown function '" + name + "'; " + known("functions", name, all);
}

}  // namespace concord

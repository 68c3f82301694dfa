#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "expression/expression_tree.hpp"

namespace concord {

/// Goes through a tree from its leaves, however deep it is: `make(node, results of its arguments)`.
/// `whole(node, results)`, asked when a node is met, before its arguments, may put the result of
/// one behind the others and say so (true): nothing below is looked at.
template <class Result, class Whole, class Make>
Result from_leaves(const Expression& tree, Whole&& whole, Make&& make) {
  struct Step {
    const Expression* node;
    std::size_t done;
  };
  std::vector<Step> path = {{&tree, 0}};
  std::vector<Result> results;
  while (!path.empty()) {
    const Expression& now = *path.back().node;
    if (path.back().done == 0 && whole(now, results)) {
      path.pop_back();
      continue;
    }
    if (path.back().done < now->arguments.size()) {
      path.push_back({&now->arguments[path.back().done++], 0});
      continue;
    }
    const auto first = results.end() - static_cast<std::ptrdiff_t>(now->arguments.size());
    const std::vector<Result> arguments(first, results.end());
    results.erase(first, results.end());
    results.push_back(make(now, arguments));
    path.pop_back();
  }
  return std::move(results.back());
}

/// The node with other arguments; itself where they are its own.
Expression with_arguments(const Expression& node, const std::vector<Expression>& arguments);

/// Whether a node is no_event(...), or what homotopy(...) begins with.
bool is_no_event(const ExpressionNode& node);

bool is_homotopy(const ExpressionNode& node);

/// The tree with part actual + (1 - part) simplified in the place of homotopy(actual, simplified);
/// one of them alone where part is 1 or 0.
Expression along_homotopy(const Expression& tree, double part);

}  // namespace concord

#include "expression/program.hpp"

#include <algorithm>

namespace concord {

namespace {

/// The nodes that the results need, arguments first.
std::vector<NodeId> needed(const ExpressionGraph& graph, std::span<const NodeId> results) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<NodeId> nodes;
  const auto reach = [&](NodeId id) {
    if (!seen[id]) nodes.push_back(id);
    seen[id] = true;
  };
  std::for_each(results.begin(), results.end(), reach);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const NodeId argument : graph.arguments(nodes[i])) reach(argument);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

Program::Program(const ExpressionGraph& graph, std::span<const NodeId> results,
                 std::size_t variable_count)
    : variable_count_(variable_count) {
  const std::vector<NodeId> nodes = needed(graph, results);
  std::vector<std::uint32_t> places(graph.size(), 0);
  auto next = static_cast<std::uint32_t>(variable_count);
  for (const NodeId id : nodes) {
    if (graph[id].operation == Operation::variable)
      variables_used_.push_back(places[id] = graph[id].arguments[0]);
    if (!graph.is_constant(id)) continue;
    constants_.push_back(graph[id].value);
    places[id] = next++;
  }
  for (const NodeId id : nodes) {
    const auto& [operation, arguments, value] = graph[id];
    if (argument_count(operation) == 0) continue;
    const auto place = [&, used = argument_count(operation)](std::size_t i) {
      return i < used ? places[arguments[i]] : 0;
    };
    instructions_.push_back({operation, place(0), place(1), place(2)});
    places[id] = next++;
  }
  for (const NodeId id : results) results_.push_back(places[id]);
  std::sort(variables_used_.begin(), variables_used_.end());
}

std::vector<double> Program::registers() const {
  std::vector<double> result(variable_count_, 0.0);
  result.reserve(variable_count_ + constants_.size() + instructions_.size());
  result.insert(result.end(), constants_.begin(), constants_.end());
  result.resize(result.size() + instructions_.size());
  return result;
}

void Program::run(std::span<double> registers, std::span<double> results) const {
  double* const r = registers.data();
  double* out = r + variable_count_ + constants_.size();
  for (const auto& [operation, a, b, c] : instructions_)
    *out++ = apply(operation, r[a], r[b], r[c]);
  for (std::size_t i = 0; i < results_.size(); ++i) results[i] = r[results_[i]];
}

}  // namespace concord

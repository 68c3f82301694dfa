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

std::vector<std::uint32_t> variables_used(const ExpressionGraph& graph,
                                          std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> result;
  for (const NodeId id : needed(graph, nodes))
    if (graph[id].operation == Operation::variable) result.push_back(graph[id].arguments[0]);
  std::sort(result.begin(), result.end());
  return result;
}

Program::Program(const ExpressionGraph& graph, std::span<const NodeId> results,
                 std::size_t variable_count, std::vector<double>& constants)
    : variable_count_(variable_count), variables_used_(concord::variables_used(graph, results)) {
  const std::vector<NodeId> nodes = needed(graph, results);
  std::vector<std::uint32_t> places(graph.size(), 0);
  constants.clear();
  auto next = static_cast<std::uint32_t>(variable_count);
  for (const NodeId id : nodes) {
    if (graph[id].operation == Operation::variable) places[id] = graph[id].arguments[0];
    if (!graph.is_constant(id)) continue;
    constants.push_back(graph[id].value);
    places[id] = next++;
  }
  constant_count_ = constants.size();
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
  instructions_.shrink_to_fit();
  results_.shrink_to_fit();
}

std::size_t Program::hash() const {
  std::size_t result = variable_count_ * 31 + constant_count_;
  const auto mix = [&](std::size_t value) { result = (result ^ value) * 1099511628211ull; };
  for (const auto& [operation, a, b, c] : instructions_)
    for (const std::uint32_t part : {static_cast<std::uint32_t>(operation), a, b, c}) mix(part);
  for (const std::uint32_t place : results_) mix(place);
  return result;
}

std::vector<double> Program::registers(std::span<const double> constants) const {
  std::vector<double> result(variable_count_ + constant_count_ + instructions_.size(), 0.0);
  std::copy(constants.begin(), constants.end(),
            result.begin() + static_cast<std::ptrdiff_t>(variable_count_));
  return result;
}

void Program::run(std::span<double> registers, std::span<double> results) const {
  double* const r = registers.data();
  double* out = r + variable_count_ + constant_count_;
  for (const auto& [operation, a, b, c] : instructions_)
    *out++ = apply(operation, r[a], r[b], r[c]);
  for (std::size_t i = 0; i < results_.size(); ++i) results[i] = r[results_[i]];
}

}  // namespace concord

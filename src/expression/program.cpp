#include "expression/program.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

/// Puts operations into an order in which equal ones stand together: of those whose arguments are
/// there, always the most of one kind.
class Grouping {
 public:
  /// `nodes`: arguments first.
  Grouping(const ExpressionGraph& graph, std::span<const NodeId> nodes)
      : graph_(graph), users_(graph.size()), missing_(graph.size(), 0) {
    for (const NodeId node : nodes) {
      for (const NodeId argument : graph.arguments(node)) {
        if (graph.arguments(argument).empty()) continue;
        users_[argument].push_back(node);
        ++missing_[node];
      }
      if (!graph.arguments(node).empty() && missing_[node] == 0) ready(node).push_back(node);
    }
  }

  /// Empty where the groups are too small to gain anything.
  std::vector<NodeId> order() {
    constexpr std::size_t worth_it = 4;
    std::vector<NodeId> result;
    const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    for (std::size_t groups = 0;; ++groups) {
      std::vector<NodeId>& most = *std::max_element(ready_.begin(), ready_.end(), fewer);
      if (most.empty())
        return result.size() < worth_it * groups ? std::vector<NodeId>() : std::move(result);
      for (std::size_t i = 0; i < most.size(); ++i) {
        result.push_back(most[i]);
        for (const NodeId user : users_[most[i]])
          if (--missing_[user] == 0) ready(user).push_back(user);
      }
      most.clear();
    }
  }

 private:
  std::vector<NodeId>& ready(NodeId node) {
    return ready_[static_cast<std::size_t>(graph_[node].operation)];
  }

  const ExpressionGraph& graph_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<std::uint32_t> missing_;  ///< arguments that are not there yet
  std::array<std::vector<NodeId>, operation_count> ready_;
};

/// One operation on many operands; returns where the next result goes.
template <Operation operation>
double* repeated(const double* registers, std::span<const Program::Operands> operands,
                 double* results) {
  for (const auto& [a, b, c] : operands)
    *results++ = apply(operation, registers[a], registers[b], registers[c]);
  return results;
}

template <std::size_t... operations>
constexpr auto all_repeated(std::index_sequence<operations...>) {
  return std::array{&repeated<static_cast<Operation>(operations)>...};
}

constexpr auto by_operation = all_repeated(std::make_index_sequence<operation_count>());

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
  add_operations(graph, nodes, places);
  for (const NodeId id : results) results_.push_back(places[id]);
  results_.shrink_to_fit();
}

void Program::add_operations(const ExpressionGraph& graph, std::span<const NodeId> nodes,
                             std::vector<std::uint32_t>& places) {
  auto next = static_cast<std::uint32_t>(held_count());
  constexpr std::size_t few = 32;
  std::vector<NodeId> grouped;
  if (nodes.size() > few) grouped = Grouping(graph, nodes).order();
  for (const NodeId id : grouped.empty() ? nodes : std::span<const NodeId>(grouped)) {
    const auto& [operation, arguments, value] = graph[id];
    if (argument_count(operation) == 0) continue;
    const auto place = [&, used = argument_count(operation), of = arguments](std::size_t i) {
      return i < used ? places[of[i]] : 0;
    };
    operands_.push_back({place(0), place(1), place(2)});
    if (runs_.empty() || runs_.back().operation != operation) runs_.push_back({operation, 0});
    ++runs_.back().count;
    places[id] = next++;
  }
  runs_.shrink_to_fit();
  operands_.shrink_to_fit();
}

std::size_t Program::hash() const {
  std::size_t result = variable_count_ * 31 + constant_count_;
  const auto mix = [&](std::size_t value) { result = (result ^ value) * 1099511628211ull; };
  for (const auto& [operation, count] : runs_)
    for (const std::uint32_t part : {static_cast<std::uint32_t>(operation), count}) mix(part);
  for (const auto& [a, b, c] : operands_)
    for (const std::uint32_t part : {a, b, c}) mix(part);
  for (const std::uint32_t place : results_) mix(place);
  return result;
}

std::vector<double> Program::registers(std::span<const double> constants) const {
  std::vector<double> result(held_count() + operands_.size(), 0.0);
  std::copy(constants.begin(), constants.end(),
            result.begin() + static_cast<std::ptrdiff_t>(variable_count_));
  return result;
}

void Program::run(std::span<double> registers, std::span<double> results) const {
  double* const r = registers.data();
  double* out = r + held_count();
  const Operands* next = operands_.data();
  for (const auto& [operation, count] : runs_) {
    if (count == 1)  // cheaper in place
      *out++ = apply(operation, r[next->a], r[next->b], r[next->c]);
    else
      out = by_operation[static_cast<std::size_t>(operation)](r, {next, count}, out);
    next += count;
  }
  for (std::size_t i = 0; i < results_.size(); ++i) results[i] = r[results_[i]];
}

}  // namespace concord

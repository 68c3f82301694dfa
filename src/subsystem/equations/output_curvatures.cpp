#include "subsystem/equations/output_curvatures.hpp"

#include "expression/differentiation.hpp"
#include "support/shared.hpp"

namespace concord {

namespace {

/// d/dt of the program's variables: t, x, u; what is held rests; u'; u'' is not derived.
std::vector<NodeId> velocities(ExpressionGraph& graph, const SmoothEquations& equations) {
  const EquationPlaces& places = equations.places();
  std::vector<NodeId> result = {graph.constant(1.0)};
  for (const Expression& derivative : equations.derivatives())
    result.push_back(graph.add(derivative, equations.names()));
  auto next = static_cast<std::uint32_t>(places.all());
  for (std::size_t i = 0; i < places.inputs; ++i) result.push_back(graph.variable(next++));
  result.resize(places.all(), graph.constant(0.0));
  for (std::size_t i = 0; i < places.inputs; ++i) result.push_back(graph.variable(next++));
  return result;
}

}  // namespace

Evaluation output_curvatures(const SmoothEquations& equations) {
  ExpressionGraph graph;
  TotalDerivative derivative(graph, velocities(graph, equations));
  std::vector<NodeId> curvatures;
  for (const Expression& output : equations.outputs()) {
    const NodeId slope = derivative.of(graph.add(output, equations.names()));
    curvatures.push_back(derivative.of(slope));
  }
  const std::size_t variables = equations.places().all() + 2 * equations.places().inputs;
  std::vector<double> constants;
  Program program(graph, curvatures, variables, constants);
  return {Shared<Program>::one_like(std::move(program)), constants};
}

}  // namespace concord

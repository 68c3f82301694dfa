#include "simulation/direct_feedthrough.hpp"

#include <vector>

#include "concord/errors.hpp"
#include "coupling/points/start.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

bool answers_at_once(const Network& network, std::size_t subsystem) {
  const IndexRange outputs = network.outputs_of(subsystem);
  for (std::size_t o = outputs.first; o < outputs.last; ++o)
    if (!network.feedthrough_to(o).empty()) return true;
  return false;
}

/// Of all subsystems, side by side.
Entries feedthrough_of_each(RankNetwork& subsystems, std::span<const Sample> inputs) {
  const Network& network = subsystems.network();
  Entries result;
  std::vector<double> g_u;
  for (const std::size_t k : subsystems.all()) {
    const std::size_t g = subsystems.global(k);
    if (!answers_at_once(network, g)) continue;
    if (!subsystems.feedthrough(k, inputs, g_u)) {
      if (const auto failure = subsystems.failure()) throw SimulationError(*failure);
      throw InputError("subsystem '" + subsystems.own(k).description().name +
                       "' has outputs that follow inputs at once and offers no linearization");
    }
    const IndexRange rows = network.outputs_of(g), columns = network.inputs_of(g);
    for (std::size_t i = 0; i < g_u.size(); ++i)
      if (g_u[i] != 0.0)
        result.emplace_back(index(rows.first + i / columns.size()),
                            index(columns.first + i % columns.size()), g_u[i]);
  }
  return result;
}

Sparse assembled(std::size_t rows, std::size_t columns, const Entries& entries) {
  Sparse result(index(rows), index(columns));
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

Sparse connections_of(const Network& network) {
  Entries entries;
  for (std::size_t i = 0; i < network.n_inputs(); ++i)
    if (const auto& link = network.links()[i])
      entries.emplace_back(index(i), index(link->output), link->factor);
  return assembled(network.n_inputs(), network.n_outputs(), entries);
}

void factor(SparseFactors& factors, const Sparse& matrix, double time) {
  if (!factors.compute(matrix))
    throw SimulationError("at t = " + short_number(time) +
                          " s outputs do not follow from inputs: an algebraic loop has gain 1, or "
                          "a constraint has an index above 1");
}

}  // namespace

CommunicationPoint point_with(SimulationCore& simulation, std::span<const InputChange> inputs) {
  CommunicationPoint point = simulation.stepper().point();
  if (simulation.plan().replicated) return point;
  for (const auto& [input, value] : inputs) point.inputs[input] = {value, 0.0};
  ConsistentInputs consistent(simulation.subsystems());
  make_consistent(simulation.subsystems(), consistent, Wanted::values, point);
  return point;
}

DirectFeedthrough::DirectFeedthrough(SimulationCore& simulation, std::span<const Sample> inputs) {
  if (simulation.plan().replicated)
    throw InputError(
        "-cosim_type monolithic has no subsystems of its own, whose derivatives could be asked "
        "for; use another type");
  RankNetwork& subsystems = simulation.subsystems();
  const Network& network = subsystems.network();
  subsystems.note_all_given();
  g_u_ =
      assembled(network.n_outputs(), network.n_inputs(), feedthrough_of_each(subsystems, inputs));
  is_free_ = Vector::Ones(index(network.n_inputs()));
  for (std::size_t i = 0; i < network.n_inputs(); ++i)
    if (network.links()[i]) is_free_[index(i)] = 0.0;
  Sparse loops(index(network.n_outputs()), index(network.n_outputs()));
  loops.setIdentity();
  loops -= Sparse(g_u_ * connections_of(network));
  if (loops.rows() == 0) return;
  factor(forward_, loops, simulation.time());
  factor(adjoint_, loops.transpose(), simulation.time());
}

Vector DirectFeedthrough::forward(const Vector& inputs) const {
  const Vector own = g_u_ * Vector(inputs.cwiseProduct(is_free_));
  return own.size() == 0 ? own : Vector(forward_.solve(own));
}

Vector DirectFeedthrough::adjoint(const Vector& outputs) const {
  if (outputs.size() == 0) return Vector::Zero(is_free_.size());
  const Vector behind = adjoint_.solve(outputs);
  return Vector(g_u_.transpose() * behind).cwiseProduct(is_free_);
}

}  // namespace concord

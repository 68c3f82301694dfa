#include "coupling/collocation/collocation_rows.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// Errors within a macro-step are those of one macro-step, O(h^{count + 1}); of few nodes they are
/// to be less than what its end is wrong by.
int enough_nodes(const CollocationNodes& nodes) {
  return std::max(nodes.order() - 1, static_cast<int>(nodes.count()) + 2);
}

}  // namespace

CollocationRows::CollocationRows(RankNetwork& subsystems, const CollocationNodes& nodes,
                                 const SolverOptions& options)
    : subsystems_(subsystems),
      nodes_(nodes.family(), enough_nodes(nodes)),
      system_(subsystems, nodes_, options),
      finer_(subsystems, nodes, nodes_, system_),
      shares_(nodes_.with_ends()) {}

bool CollocationRows::find(const NodeSystem& solved, const MacroStep& step,
                           std::span<const Sample> end_inputs, std::span<PassedPoint> points) {
  failure_.reset();
  if (finer_.sweep(solved).failed) return false;
  bool good = true;
  for (PassedPoint& point : points) {
    fill(solved, step, end_inputs, point);
    good = ask(step, point) && good;
  }
  return agree_on_largest(subsystems_.comm(), good ? 0 : 1) == 0;
}

/// States and inputs by the polynomials.
void CollocationRows::fill(const NodeSystem& solved, const MacroStep& step,
                           std::span<const Sample> end_inputs, PassedPoint& point) const {
  const double s = (point.time - step.begin) / step.size();
  const Eigen::VectorXd x = system_.states_by(nodes_.up_to(s));
  point.states.assign(x.begin(), x.end());
  const Eigen::VectorXd values = lagrange_weights(shares_, s);
  const Eigen::VectorXd slopes = lagrange_slopes(shares_, s) / step.size();
  const auto& connected = subsystems_.connected_inputs();
  point.inputs.resize(end_inputs.size());
  std::ranges::transform(system_.inputs_at(0), point.inputs.begin(),
                         [](const Sample& input) { return Sample{input.value}; });
  Eigen::VectorXd u(shares_.size());
  for (std::size_t j = 0; j < connected.size(); ++j) {
    u[0] = solved.begin_input(j);
    for (std::size_t i = 0; i < system_.count(); ++i)
      u[static_cast<Eigen::Index>(i + 1)] = system_.input(j, i);
    u[u.size() - 1] = end_inputs[connected[j]].value;
    point.inputs[connected[j]] = {values.dot(u), slopes.dot(u)};
  }
}

/// Outputs of them.
bool CollocationRows::ask(const MacroStep& step, PassedPoint& point) {
  point.outputs.resize(subsystems_.n_outputs());
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
    const IndexRange states = subsystems_.states_of(k);
    StatePoint at{point.time, step.size(),
                  std::span<const double>(point.states).subspan(states.first, states.size()),
                  std::span<const Sample>(point.inputs).subspan(in.first, in.size())};
    at.wanted = Wanted::values;
    Outcome outcome = Outcome::failed;
    const auto thrown = subsystems_.asking(k, [&] {
      outcome = subsystems_.own(k).outputs_at(
          at, std::span(point.outputs).subspan(out.first, out.size()));
    });
    if (thrown || outcome != Outcome::ok) {
      failure_ = thrown
                     ? *thrown
                     : "subsystem '" + subsystems_.name(k) + "': " + subsystems_.own(k).failure();
      return false;
    }
  }
  return true;
}

}  // namespace concord

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
      shares_(nodes_.with_ends()),
      tail_(nodes_),
      states_missed_(subsystems.n_states()),
      missed_(subsystems.n_outputs()),
      inputs_missed_(subsystems.n_inputs()),
      at_nodes_(system_.count()) {}

bool CollocationRows::find(const NodeSystem& solved, const MacroStep& step,
                           std::span<const Sample> end_inputs, std::span<PassedPoint> points) {
  failure_.reset();
  if (finer_.sweep(solved).failed) return false;
  bool good = true;
  for (PassedPoint& point : points) {
    fill(solved, step, end_inputs, point);
    good = ask(step, point) && good;
  }
  if (agree_on_largest(subsystems_.comm(), good ? 0 : 1) != 0) return false;
  find_missed(step.size());
  return true;
}

void CollocationRows::find_missed(double h) {
  const Eigen::MatrixXd& slopes = system_.slopes();
  for (std::size_t s = 0; s < states_missed_.size(); ++s)
    states_missed_[s] = h * tail_.of_integral(slopes.data() + s, slopes.outerStride());
  std::ranges::fill(inputs_missed_, Sample{});
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    for (std::size_t i = 0; i < at_nodes_.size(); ++i) at_nodes_[i] = system_.input(j, i);
    inputs_missed_[connected[j]].value = tail_.of_values(at_nodes_.data(), 1);
  }
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
    const double* const x = states_missed_.data() + subsystems_.states_of(k).first;
    for (std::size_t o = 0; o < out.size(); ++o) {
      double& missed = missed_[out.first + o] = 0.0;
      for (Eigen::Index i = 0; i < nodes_.count(); ++i)
        missed =
            std::max(missed, system_.block(k).terms_of_output(static_cast<Eigen::Index>(o), i, x,
                                                              inputs_missed_.data() + in.first));
    }
  }
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

#include "coupling/collocation/node_rows.hpp"

#include <algorithm>

namespace concord {
namespace {

std::vector<double> numbers(const Eigen::VectorXd& values) {
  return {values.begin(), values.end()};
}

}  // namespace

NodeRows::NodeRows(const RankNetwork& subsystems, const CollocationNodes& nodes)
    : count_(static_cast<std::size_t>(nodes.count())),
      shares_(numbers(nodes.with_ends())),
      weights_(numbers(mean_weights(nodes.with_ends()))),
      counts_(shares_.size(), 0.0),
      inputs_(shares_.size(), std::vector<Sample>(subsystems.n_inputs())),
      outputs_(shares_.size(), std::vector<Sample>(subsystems.n_outputs())),
      missed_(subsystems.connected_inputs().size()),
      all_{shares_, weights_, counts_, inputs_, outputs_, missed_, true} {
  std::ranges::copy(nodes.weights(), counts_.begin() + 1);
}

/// At the end as the subsystems are there.
void NodeRows::fill(const NodeSystem& system, const CommunicationPoint& point, const Trial& trial) {
  inputs_.front() = point.inputs;
  outputs_.front() = point.outputs;
  for (std::size_t i = 0; i < count_; ++i) {
    std::ranges::copy(system.inputs_at(i), inputs_[i + 1].begin());
    std::ranges::copy(system.outputs_at(i), outputs_[i + 1].begin());
  }
  inputs_.back() = trial.inputs;
  outputs_.back() = trial.outputs;
}

}  // namespace concord

#include "coupling/collocation/node_rows.hpp"

#include <algorithm>

namespace concord {
namespace {

std::vector<double> nodes_and_ends(const CollocationNodes& nodes) {
  std::vector<double> shares{0.0};
  shares.insert(shares.end(), nodes.shares().begin(), nodes.shares().end());
  if (nodes.family() == NodeFamily::gauss) shares.push_back(1.0);
  return shares;
}

std::vector<double> means_of(const std::vector<double>& shares) {
  const Eigen::VectorXd means = mean_weights(
      Eigen::Map<const Eigen::VectorXd>(shares.data(), static_cast<Eigen::Index>(shares.size())));
  return {means.begin(), means.end()};
}

}  // namespace

NodeRows::NodeRows(const RankNetwork& subsystems, const CollocationNodes& nodes)
    : count_(static_cast<std::size_t>(nodes.count())),
      shares_(nodes_and_ends(nodes)),
      weights_(means_of(shares_)),
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

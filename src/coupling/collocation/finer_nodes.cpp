#include "coupling/collocation/finer_nodes.hpp"

namespace concord {

FinerNodes::FinerNodes(const RankNetwork& subsystems, const CollocationNodes& coarse,
                       const CollocationNodes& nodes, NodeSystem& system)
    : subsystems_(subsystems),
      nodes_(nodes),
      system_(system),
      of_slopes_(coarse.count(), nodes_.count()),
      of_inputs_(coarse.count() + 1, nodes_.count()),
      values_(static_cast<std::size_t>(coarse.count()) + 1) {
  const Eigen::VectorXd shares = coarse.with_begin();
  for (Eigen::Index i = 0; i < nodes_.count(); ++i) {
    of_slopes_.col(i) = coarse.at(nodes_.shares()[i]);
    of_inputs_.col(i) = lagrange_weights(shares, nodes_.shares()[i]);
  }
}

NodeSystem::Sweep FinerNodes::sweep(const NodeSystem& coarse) {
  system_.begin_as(coarse);
  system_.set_slopes(coarse.slopes(), of_slopes_);
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    values_.front() = coarse.begin_input(j);
    for (std::size_t i = 0; i < coarse.count(); ++i) values_[i + 1] = coarse.input(j, i);
    system_.set_input(j, values_, of_inputs_);
  }
  return system_.sweep_with(coarse, of_slopes_);
}

}  // namespace concord

#include "coupling/collocation/finer_nodes.hpp"

namespace concord {

FinerNodes::FinerNodes(RankNetwork& subsystems, const CollocationNodes& coarse, int count,
                       const SolverOptions& options)
    : subsystems_(subsystems),
      nodes_(coarse.family(), count),
      system_(subsystems, nodes_, options),
      of_slopes_(coarse.count(), nodes_.count()),
      of_inputs_(coarse.count() + 1, nodes_.count()) {
  const Eigen::VectorXd shares = coarse.with_begin();
  for (Eigen::Index i = 0; i < nodes_.count(); ++i) {
    of_slopes_.col(i) = coarse.at(nodes_.shares()[i]);
    of_inputs_.col(i) = lagrange_weights(shares, nodes_.shares()[i]);
  }
}

bool FinerNodes::sweep(const NodeSystem& coarse) {
  system_.begin_as(coarse);
  for (const std::size_t k : subsystems_.all()) {
    system_.set_slopes(k, coarse.block(k).slopes() * of_slopes_);
  }
  Eigen::VectorXd values(of_inputs_.rows());
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    values << coarse.begin_input(j), coarse.inputs(j);
    system_.set_inputs(j, of_inputs_.transpose() * values);
  }
  return !system_.sweep_with(coarse).failed;
}

}  // namespace concord

#include "simulation/simulation_plan.hpp"

#include <utility>
#include <vector>

#include "network/placement/placement.hpp"
#include "simulation/order_trial.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// As rank 0 finds it: partitioners need not find the same everywhere.
Partition shared_out(MPI_Comm comm, const Settings& settings, const Model& model,
                     const Network& network) {
  std::vector<int> rank_of(network.n_subsystems());
  together(comm, [&] {
    if (rank_in(comm) == 0) {
      rank_of = share_of_ranks(settings, model, network, ranks_of(comm)).ranks();
    }
  });
  MPI_Bcast(rank_of.data(), static_cast<int>(rank_of.size()), MPI_INT, 0, comm);
  return Partition(std::move(rank_of));
}

Model tried(Model model, MPI_Comm comm) {
  if (!model.stiff) find_stiffness(model, comm);
  return model;
}

}  // namespace

Partition share_of_ranks(const Settings& settings, const Model& model, const Network& network,
                         int ranks) {
  if (ranks == 1) return Partition::on_one_rank(network);
  const PlacementProblem problem = placement_problem(model, network);
  const Method& method = settings.method;
  return method.schedule.groups_on_ranks ? in_groups(problem, method.groups, ranks)
                                         : place(problem, settings.placing, ranks);
}

SimulationPlan::SimulationPlan(MPI_Comm ranks, Model described)
    : comm(ranks),
      model(tried(std::move(described), ranks)),
      settings(read_settings(model)),
      options(options::all()),
      network(model),
      share(shared_out(comm, settings, model, network)),
      whole(Partition::on_one_rank(network)),
      replicated(settings.method.solve.as_one) {}

}  // namespace concord

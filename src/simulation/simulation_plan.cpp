#include "simulation/simulation_plan.hpp"

#include "network/schedule/schedule.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// Groups of a hierarchical schedule stay together.
Partition shared_out(MPI_Comm comm, const Settings& settings, const Model& model,
                     const Network& network) {
  const int ranks = ranks_of(comm);
  const Method& method = settings.method;
  return share_of_ranks(method.schedule, method.groups, model, network, ranks);
}

}  // namespace

SimulationPlan::SimulationPlan(MPI_Comm ranks, Model described)
    : comm(ranks),
      model(std::move(described)),
      settings(read_settings(model)),
      options(options::all()),
      network(model),
      share(shared_out(comm, settings, model, network)),
      whole(network, 1),
      replicated(settings.method.solve.as_one) {}

}  // namespace concord

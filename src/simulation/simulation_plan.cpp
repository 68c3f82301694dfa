#include "simulation/simulation_plan.hpp"

#include <utility>
#include <vector>

#include "files/replaceable.hpp"
#include "network/placement/placement.hpp"
#include "simulation/initial_values.hpp"
#include "simulation/order_trial.hpp"
#include "simulation/own_paces.hpp"
#include "simulation/states_trial.hpp"
#include "support/agreement.hpp"
#include "support/call_log.hpp"
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

/// What is found out by trials before the run.
Model tried(Model model, MPI_Comm comm) {
  if (!model.calls) {
    model.calls = new_call_log(comm, options::text("cosim_fmu_calls").value_or(""));
  }
  const CallLog::Use use(model.calls);
  find_initial_values(model, comm);
  find_false_states(model, comm);
  if (!model.paces) find_paces(model, comm);
  if (!model.stiff) find_stiffness(model, comm);
  return model;
}

}  // namespace

std::shared_ptr<CallLog> new_call_log(MPI_Comm comm, std::filesystem::path path) {
  std::shared_ptr<CallLog> log;
  together(comm, [&] {
    if (path.empty()) return;
    require_replaceable(path, FileContent::text);
    const int rank = rank_in(comm);
    if (ranks_of(comm) > 1) {
      const std::string ending = path.extension();
      path.replace_extension(std::to_string(rank) + ending);
    }
    log = CallLog::create(path, rank);
  });
  return log;
}

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
      written(model, network),
      share(shared_out(comm, settings, model, network)),
      whole(Partition::on_one_rank(network)),
      replicated(settings.method.solve.as_one) {}

}  // namespace concord

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "cli/pace_listing.hpp"
#include "concord/errors.hpp"
#include "settings/settings.hpp"
#include "simulation/own_paces.hpp"
#include "simulation/simulation_plan.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t listed = 8;
constexpr int most_ranks = 1000000;

int ranks_in(const GivenWords& own) {
  const auto text = own.value("n");
  if (!text) return ranks_of(PETSC_COMM_WORLD);
  const double number = parse_number(*text).value_or(0.0);
  if (!(number >= 1.0 && number <= most_ranks) || number != static_cast<int>(number)) {
    throw InputError("concord placement: -n " + in_quotes(*text) +
                     " must be a number of ranks, 1 to " + std::to_string(most_ranks));
  }
  return static_cast<int>(number);
}

void print_costs(const char* title, const PlacementCosts& costs) {
  std::printf("  %-24s %12.3f %15.2f %% %10d\n", title, costs.load, 100.0 * costs.cut,
              costs.most_partners);
}

/// "rank 0: 12 subsystems, 1.02 of the mean work: a b c ..."
void print_ranks(const Model& model, const PlacementProblem& problem, const Partition& partition,
                 int ranks) {
  struct Share {
    std::size_t count = 0;
    double work = 0.0;
    std::string names;
  };
  std::vector<Share> shares(static_cast<std::size_t>(ranks));
  double all = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    Share& share = shares[static_cast<std::size_t>(partition.rank_of(k))];
    if (share.count++ < listed) share.names += " " + model.subsystems[k].description.name;
    share.work += problem.network.effort[k];
    all += problem.network.effort[k];
  }
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const auto& [count, work, names] = shares[rank];
    std::printf("  rank %zu: %zu subsystems, %.2f of the mean work:%s%s\n", rank, count,
                work * ranks / all, names.c_str(), count > listed ? " ..." : "");
  }
}

int print_placement(ModelCall call) {
  const int ranks = ranks_in(call.own);
  find_paces(call.model, PETSC_COMM_WORLD);
  const Settings settings = read_settings_for_check(call.model);
  if (rank_in(PETSC_COMM_WORLD) != 0) return 0;
  const Network network(call.model);
  const PlacementProblem problem = placement_problem(call.model, network);
  const Partition chosen = share_of_ranks(settings, call.model, network, ranks);
  if (settings.paces == OwnPaces::automatic) print_pace_listing(*call.model.paces);
  std::printf("%zu subsystems on %d ranks\n", problem.size(), ranks);
  std::printf("  %-24s %12s %17s %10s\n", "", "largest work", "signals between", "partners");
  std::printf("  %-24s %12s %17s %10s\n", "", "over mean", "ranks, of all", "at most");
  print_costs("blocks", costs(problem, in_blocks(problem, ranks), ranks));
  if (const auto pieces = in_pieces(problem, ranks)) {
    print_costs("graph", costs(problem, *pieces, ranks));
  } else {
    std::printf("  graph: this PETSc has no partitioner that takes its indices\n");
  }
  print_costs("a run with these options", costs(problem, chosen, ranks));
  print_ranks(call.model, problem, chosen, ranks);
  return 0;
}

const RegisteredCommand placement({
    .name = "placement",
    .place = 31,
    .usage = "MODEL [-n RANKS] [-options]",
    .summary = "which rank has which subsystems, its work and its signals",
    .description =
        "Prints what blocks and pieces of the graph of connections cost, which subsystems each MPI "
        "rank\n"
        "would have, and its work. Efforts are those of the model file, those of an earlier run\n"
        "(-cosim_schedule_efforts), or guessed from the states.",
    .words = words_of_models(
        {{.name = "n", .value = "RANKS", .help = "so many ranks (default: those of this run)"}}),
    .example = "placement model.yaml -n 64",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model(placement, arguments, print_placement);
        },
});

}  // namespace
}  // namespace concord

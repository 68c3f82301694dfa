#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "settings/settings.hpp"
#include "simulation/simulation_plan.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"

namespace concord {
namespace {

void print_groups(const Model& model, const Groups& groups, const Partition& partition) {
  for (const auto& group : groups) {
    std::printf("  rank %d:", partition.rank_of(group.front()));
    for (const std::size_t k : group) {
      std::printf(" %s", model.subsystems[k].description.name.c_str());
    }
    std::printf("\n");
  }
}

/// Which ranks a run with these options uses.
void print_ranks(const Model& model, const Settings& settings, const Network& network, int ranks) {
  const Method& method = settings.method;
  const Partition partition = share_of_ranks(settings, model, network, ranks);
  std::printf("ranks of a run with these options (-cosim_type %s, %s schedule):\n",
              method.type.c_str(), std::string(word(method.schedule)).c_str());
  for (int rank = 0; rank < ranks; ++rank) {
    std::printf("  rank %d:", rank);
    for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
      if (partition.rank_of(k) == rank) {
        std::printf(" %s", model.subsystems[k].description.name.c_str());
      }
    }
    std::printf("\n");
  }
}

/// Where signals count differently, from the heaviest on.
void print_signals(const Model& model, const Network& network) {
  if (model.signal_weights.empty()) {
    return;
  }
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (network.links()[i]) inputs.push_back(i);
  }
  std::stable_sort(inputs.begin(), inputs.end(), [&](std::size_t a, std::size_t b) {
    return model.signal_weights[a] > model.signal_weights[b];
  });
  std::printf("signals by weight, of the mean (from a trial run):\n");
  for (const std::size_t i : inputs) {
    std::printf("  %8.4f  %s -> %s\n", model.signal_weights[i],
                network.output_names()[network.links()[i]->output].c_str(),
                network.input_names()[i].c_str());
  }
}

void print_costs(const ScheduleCosts& costs, double weight) {
  std::printf("  extrapolated signals, of all      J_E = %.4f\n", costs.extrapolated);
  std::printf("  longest group, of total effort    J_D = %.4f\n", costs.duration);
  std::printf("  (1 - w) J_E + w J_D, w = %-8g %.4f\n", weight, costs.weighted(weight));
}

/// Where they come from decides what the schedule is worth.
void print_efforts(const Model& model, const std::vector<double>& efforts) {
  const auto results = options::text("cosim_schedule_efforts");
  const bool given = std::any_of(model.subsystems.begin(), model.subsystems.end(),
                                 [](const SubsystemEntry& entry) { return entry.effort > 0.0; });
  std::printf("efforts, of the total (%s):", results ? ("measured in " + *results).c_str()
                                             : given ? "of the model file"
                                                     : "guessed: states + 1");
  const double total = std::accumulate(efforts.begin(), efforts.end(), 0.0);
  for (std::size_t k = 0; k < efforts.size(); ++k) {
    std::printf(" %s %.4f", model.subsystems[k].description.name.c_str(), efforts[k] / total);
  }
  std::printf("\n");
}

/// The model file's groups where it gives some, and the best ones.
int print_schedule(ModelCall call) {
  Model& model = call.model;
  const Settings settings = read_settings_for_check(model);
  const Network network(model);
  const double weight = settings.schedule_weight;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  if (rank != 0) {
    return 0;
  }
  const ScheduleProblem problem = schedule_problem(model, network);
  const PlacementProblem places = placement_problem(model, network);
  const auto print = [&](const char* title, const Groups& groups) {
    std::printf("%s %s\n", title, written(groups, model).c_str());
    print_groups(model, groups, in_groups(places, groups, ranks));
    print_costs(costs(problem, groups), weight);
  };
  print_efforts(model, problem.effort);
  print_signals(model, network);
  const Groups given = given_groups(model);
  if (!given.empty()) {
    print("schedule of the model file, which runs:", given);
  }
  const bool exact = problem.size() <= largest_exact_schedule;
  print(exact ? "best schedule:" : "good schedule (too many subsystems for an exact search):",
        best_groups(problem, weight));
  print_ranks(model, settings, network, ranks);
  return 0;
}

const RegisteredCommand schedule({
    .name = "schedule",
    .place = 30,
    .usage = "MODEL [-options]",
    .summary = "groups, their costs and ranks",
    .description =
        "Prints the hierarchical schedule of a model, its two costs, and the ranks it would use.",
    .words = words_of_models(),
    .example = "schedule model.yaml -cosim_schedule_weight 0.5",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) { return with_model(schedule, arguments, print_schedule); },
});

}  // namespace

}  // namespace concord

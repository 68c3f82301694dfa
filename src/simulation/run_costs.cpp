#include "simulation/run_costs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "simulation/simulation_core.hpp"
#include "support/messages.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

double peak_memory() {
  constexpr double kilobyte = 1024.0;
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  return kilobyte * static_cast<double>(use.ru_maxrss);
}

/// Of a rank's own share of the subsystems. What integrates all of them as one takes its time on
/// the first one's account.
std::vector<Counters> own_counters(const SimulationCore& simulation) {
  const SimulationPlan& plan = simulation.plan();
  const RankNetwork& subsystems = simulation.subsystems();
  const Counters* whole = simulation.stepper().coupling().counters();
  std::vector<Counters> own;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    if (plan.share.rank_of(subsystems.global(k)) == rank_in(plan.comm)) {
      const Counters counters = subsystems.counters(k);
      own.push_back(whole != nullptr ? *whole : counters);
      own.back().wall_time = subsystems.counters(whole != nullptr ? 0 : k).wall_time;
      own.back().revived = counters.revived;
    }
  }
  return own;
}

std::vector<RankCosts> of_ranks(const SimulationCore& simulation) {
  const MPI_Comm comm = simulation.plan().comm;
  RankCosts own;
  const auto phases = simulation.subsystems().clock().phases();
  std::copy(phases.begin(), phases.end(), own.phases.begin());
  own.memory = peak_memory();
  constexpr int size = sizeof(RankCosts);
  std::vector<RankCosts> all(rank_in(comm) == 0 ? static_cast<std::size_t>(ranks_of(comm)) : 0);
  MPI_Gather(&own, size, MPI_BYTE, all.data(), size, MPI_BYTE, 0, comm);
  return all;
}

/// What is integrated as one has counters for all that is within, and their time in equal shares.
std::vector<Counters> as_written(const SimulationPlan& plan, std::vector<Counters> all) {
  const auto groups = [](const SubsystemEntry& entry) { return is_group(entry.description); };
  if (std::ranges::none_of(plan.model.subsystems, groups)) return all;
  std::vector<Counters> result;
  for (const WrittenPart& part : written_parts(plan.model, plan.network)) {
    result.push_back(all[part.subsystem]);
    if (part.group == 0) continue;
    const Model& inside = *plan.model.subsystems[part.subsystem].type->inside;
    for (double Counters::*time :
         {&Counters::wall_time, &Counters::linearize_time, &Counters::output_time,
          &Counters::rollback_time, &Counters::event_time})
      result.back().*time /= static_cast<double>(inside.subsystems.size());
  }
  return result;
}

std::vector<Counters> of_subsystems(const SimulationCore& simulation) {
  const SimulationPlan& plan = simulation.plan();
  std::vector<Counters> own = own_counters(simulation);
  if (rank_in(plan.comm) != 0) {
    send_bytes(plan.comm, bytes_of(own), 0);
    return {};
  }
  std::vector<Counters> all(plan.model.subsystems.size());
  for (int rank = 0; rank < ranks_of(plan.comm); ++rank) {
    const auto part =
        rank == 0 ? std::move(own) : items_in<Counters>(received_bytes(plan.comm, rank));
    std::size_t k = 0;
    for (const std::size_t g : plan.share.subsystems_of(rank)) {
      all[g] = part[k++];
    }
  }
  return as_written(plan, std::move(all));
}

}  // namespace

RunCosts costs_of(const SimulationCore& simulation) {
  if (!simulation.has_parts()) return {};
  return {of_ranks(simulation), of_subsystems(simulation)};
}

double load_balance(const std::vector<RankCosts>& ranks) {
  double sum = 0.0, longest = 0.0;
  for (const RankCosts& rank : ranks) {
    const double busy = rank.phases[static_cast<std::size_t>(Phase::advance)];
    sum += busy;
    longest = std::max(longest, busy);
  }
  return longest > 0.0 ? sum / (static_cast<double>(ranks.size()) * longest) : 1.0;
}

}  // namespace concord

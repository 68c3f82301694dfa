#include "network/placement/placement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "concord/errors.hpp"
#include "network/placement/graph_pieces.hpp"

namespace concord {
namespace {

/// Per subsystem and rank: fewer don't make a graph that is worth cutting.
constexpr std::size_t few = 4;

/// Of signals and of work: what blocks may lose before another placement is looked for, and what it
/// must win.
constexpr double hardly_any = 0.02;

/// Work beyond a rank's share, and signals that leave it.
double loss(const PlacementCosts& costs) { return costs.load - 1.0 + costs.cut; }

/// Which rank already has what no process can have twice.
class Singles {
 public:
  explicit Singles(const PlacementProblem& problem) : problem_(problem) {}

  bool fit(std::size_t k, int rank) const {
    return problem_.alone[k].empty() || !taken_.contains({rank, problem_.alone[k]});
  }
  void take(std::size_t k, int rank) {
    if (!problem_.alone[k].empty()) taken_.insert({rank, problem_.alone[k]});
  }

 private:
  const PlacementProblem& problem_;
  std::set<std::pair<int, std::string>> taken_;
};

bool is_wanted(const PlacementProblem& problem, std::size_t k) {
  return problem.wanted[k] != PlacementProblem::anywhere;
}

/// With those first that the model wants somewhere.
Partition settled(const PlacementProblem& problem, std::vector<int> rank_of, int ranks) {
  Singles singles(problem);
  for (std::size_t k = 0; k < rank_of.size(); ++k) {
    if (is_wanted(problem, k)) singles.take(k, rank_of[k] = problem.wanted[k] % ranks);
  }
  for (std::size_t k = 0; k < rank_of.size(); ++k) {
    if (is_wanted(problem, k)) continue;
    for (int i = 0; i < ranks && !singles.fit(k, rank_of[k]); ++i) {
      rank_of[k] = (rank_of[k] + 1) % ranks;
    }
    singles.take(k, rank_of[k]);
  }
  return Partition(std::move(rank_of));
}

/// Groups on ranks, one after another.
class GroupPlaces {
 public:
  GroupPlaces(const PlacementProblem& problem, const Groups& groups, int ranks)
      : problem_(problem),
        groups_(groups),
        singles_(problem),
        work_(static_cast<std::size_t>(ranks), 0.0),
        rank_of_(problem.size(), 0) {}

  double effort(std::size_t g) const {
    double sum = 0.0;
    for (const std::size_t k : groups_[g]) sum += problem_.network.effort[k];
    return sum;
  }
  void put(std::size_t g, std::size_t rank) {
    work_[rank] += effort(g);
    for (const std::size_t k : groups_[g]) {
      rank_of_[k] = static_cast<int>(rank);
      singles_.take(k, rank_of_[k]);
    }
  }
  /// Where least work is, of those where it can be, if there are such.
  std::size_t best_rank(std::size_t g) const {
    std::pair<bool, double> least{true, std::numeric_limits<double>::infinity()};
    std::size_t best = 0;
    for (std::size_t rank = 0; rank < work_.size(); ++rank) {
      const bool fit = std::all_of(groups_[g].begin(), groups_[g].end(), [&](std::size_t k) {
        return singles_.fit(k, static_cast<int>(rank));
      });
      if (const std::pair here{!fit, work_[rank]}; here < least) {
        least = here;
        best = rank;
      }
    }
    return best;
  }
  Partition partition() && { return Partition(std::move(rank_of_)); }

 private:
  const PlacementProblem& problem_;
  const Groups& groups_;
  Singles singles_;
  std::vector<double> work_;
  std::vector<int> rank_of_;
};

}  // namespace

template <>
std::span<const WordOf<Placing>> words_of<Placing>() {
  static constexpr WordOf<Placing> words[] = {
      {"auto", Placing::automatic}, {"blocks", Placing::blocks}, {"graph", Placing::graph}};
  return words;
}

PlacementProblem placement_problem(const Model& model, const Network& network) {
  const std::size_t n = network.n_subsystems();
  PlacementProblem problem{{received_signals(network), std::vector<double>(n)}, {}, {}};
  const auto& entries = model.subsystems;
  const bool given = std::all_of(entries.begin(), entries.end(), [](const SubsystemEntry& entry) {
    return entry.effort > 0.0 || !entry.description.stands_for.empty();
  });
  for (std::size_t k = 0; k < n; ++k) {
    const double states = static_cast<double>(network.states_of(k).size());
    problem.network.effort[k] = given ? entries[k].effort : 1.0 + 0.1 * states;
    problem.wanted.push_back(entries[k].rank.value_or(PlacementProblem::anywhere));
    problem.alone.push_back(network.one_per_process(k));
  }
  return problem;
}

PlacementCosts costs(const PlacementProblem& problem, const Partition& partition, int ranks) {
  std::vector<double> work(static_cast<std::size_t>(ranks), 0.0);
  std::vector<std::set<int>> partners(work.size());
  double all = 0.0, leaving = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const int own = partition.rank_of(k);
    work[static_cast<std::size_t>(own)] += problem.network.effort[k];
    for (const auto& [from, count] : problem.network.received[k]) {
      const int other = partition.rank_of(from);
      all += count;
      if (other == own) continue;
      leaving += count;
      partners[static_cast<std::size_t>(own)].insert(other);
      partners[static_cast<std::size_t>(other)].insert(own);
    }
  }
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto most = std::max_element(partners.begin(), partners.end(), fewer);
  return {total > 0.0 ? *std::max_element(work.begin(), work.end()) * ranks / total : 1.0,
          all > 0.0 ? leaving / all : 0.0, static_cast<int>(most->size())};
}

Partition in_blocks(const PlacementProblem& problem, int ranks) {
  std::vector<double> taken(static_cast<std::size_t>(ranks), 0.0);
  double work = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    work += problem.network.effort[k];
    if (is_wanted(problem, k)) {
      taken[static_cast<std::size_t>(problem.wanted[k] % ranks)] += problem.network.effort[k];
    }
  }
  std::vector<double> ends;  // of what each rank has room for
  for (double end = 0.0; const double own : taken) {
    ends.push_back(end += std::max(0.0, work / ranks - own));
  }
  const double free = work - std::accumulate(taken.begin(), taken.end(), 0.0);
  const double per_room = free > 0.0 ? ends.back() / free : 1.0;
  std::vector<int> rank_of(problem.size(), 0);
  double before = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    if (is_wanted(problem, k)) continue;
    const double middle = per_room * (before + 0.5 * problem.network.effort[k]);
    const auto rank = std::upper_bound(ends.begin(), ends.end(), middle) - ends.begin();
    rank_of[k] = std::min(ranks - 1, static_cast<int>(rank));
    before += problem.network.effort[k];
  }
  return settled(problem, std::move(rank_of), ranks);
}

std::optional<Partition> in_pieces(const PlacementProblem& problem, int ranks) {
  auto pieces = pieces_of_graph(problem.network, ranks);
  if (!pieces) return std::nullopt;
  return settled(problem, std::move(*pieces), ranks);
}

Partition in_groups(const PlacementProblem& problem, const Groups& groups, int ranks) {
  GroupPlaces places(problem, groups, ranks);
  std::vector<std::pair<double, std::size_t>> longest_first;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto wanted = std::find_if(groups[g].begin(), groups[g].end(),
                                     [&](std::size_t k) { return is_wanted(problem, k); });
    if (wanted == groups[g].end()) {
      longest_first.push_back({-places.effort(g), g});
    } else {
      places.put(g, static_cast<std::size_t>(problem.wanted[*wanted] % ranks));
    }
  }
  std::sort(longest_first.begin(), longest_first.end());
  for (const auto& [negative_effort, g] : longest_first) places.put(g, places.best_rank(g));
  return std::move(places).partition();
}

Partition place(const PlacementProblem& problem, Placing placing, int ranks) {
  if (placing == Placing::graph) {
    if (auto pieces = in_pieces(problem, ranks)) return std::move(*pieces);
    throw InputError(
        "-cosim_placement graph: this PETSc has no partitioner that takes its indices; choose auto "
        "or blocks, or another PETSc");
  }
  Partition blocks = in_blocks(problem, ranks);
  if (placing == Placing::blocks || ranks == 1 ||
      problem.size() < few * static_cast<std::size_t>(ranks)) {
    return blocks;
  }
  const double lost = loss(costs(problem, blocks, ranks));
  if (lost < hardly_any) return blocks;
  std::optional<Partition> pieces = in_pieces(problem, ranks);
  const bool better = pieces && loss(costs(problem, *pieces, ranks)) < lost - hardly_any;
  return better ? std::move(*pieces) : blocks;
}

}  // namespace concord

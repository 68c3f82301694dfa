#include "network/placement/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace concord {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

/// Subsystems of equal effort; a signal in each direction between those of a pair.
PlacementProblem problem_of(std::size_t n, const std::vector<Pair>& pairs) {
  PlacementProblem problem{
      {std::vector<std::vector<ScheduleProblem::Signals>>(n), std::vector<double>(n, 1.0)},
      std::vector<int>(n, PlacementProblem::anywhere),
      std::vector<std::string>(n)};
  for (const auto& [a, b] : pairs) {
    problem.network.received[a].push_back({b, 1.0});
    problem.network.received[b].push_back({a, 1.0});
  }
  return problem;
}

PlacementProblem chain(std::size_t n) {
  std::vector<Pair> pairs;
  for (std::size_t k = 1; k < n; ++k) pairs.push_back({k - 1, k});
  return problem_of(n, pairs);
}

/// side x side cells, in an order that says nothing of their places.
PlacementProblem shuffled_grid(std::size_t side) {
  std::vector<std::size_t> at(side * side);
  std::iota(at.begin(), at.end(), std::size_t{0});
  std::mt19937 random(7);
  std::shuffle(at.begin(), at.end(), random);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j + 1 < side; ++j) {
      pairs.push_back({at[i * side + j], at[i * side + j + 1]});
      pairs.push_back({at[j * side + i], at[(j + 1) * side + i]});
    }
  }
  return problem_of(side * side, pairs);
}

TEST(Placement, BlocksInModelOrder) {
  for (std::size_t n = 1; n <= 20; ++n) {
    const PlacementProblem problem = chain(n);
    for (int ranks = 1; ranks <= 7; ++ranks) {
      const Partition partition = in_blocks(problem, ranks);
      ASSERT_EQ(partition.ranks().size(), n);
      EXPECT_TRUE(std::is_sorted(partition.ranks().begin(), partition.ranks().end()));
      EXPECT_GE(partition.rank_of(0), 0);
      EXPECT_LT(partition.rank_of(n - 1), ranks);
      std::size_t owned = 0, least = n, most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto own = partition.subsystems_of(rank);
        owned += own.size();
        least = std::min(least, own.size());
        most = std::max(most, own.size());
        for (const std::size_t k : own) EXPECT_EQ(partition.rank_of(k), rank);
      }
      EXPECT_EQ(owned, n);
      EXPECT_LE(most - least, 1U) << n << " equal subsystems on " << ranks << " ranks";
    }
  }
}

TEST(Placement, HeavySubsystemsGetARankOfTheirOwn) {
  PlacementProblem problem = chain(10);
  problem.network.effort[9] = 10.0;
  EXPECT_EQ(in_blocks(problem, 2).subsystems_of(1), std::vector<std::size_t>{9});
}

TEST(Placement, EffortsAreTheModelsOrGuessedFromStates) {
  Model model;
  for (const char* name : {"a", "b", "c"}) {
    SubsystemEntry entry;
    entry.description.name = name;
    entry.description.states.own().resize(20);
    model.subsystems.push_back(entry);
  }
  const std::vector<double> guessed{3.0, 3.0, 3.0};
  EXPECT_EQ(placement_problem(model, Network(model)).network.effort, guessed);
  model.subsystems[0].effort = 2.0;
  EXPECT_EQ(placement_problem(model, Network(model)).network.effort, guessed);
  model.subsystems[1].effort = model.subsystems[2].effort = 1.0;
  EXPECT_EQ(placement_problem(model, Network(model)).network.effort,
            (std::vector<double>{2.0, 1.0, 1.0}));
}

PlacementProblem wanted_somewhere() {
  PlacementProblem problem = chain(8);
  problem.wanted[0] = problem.wanted[7] = 1;
  problem.wanted[3] = 5;  // of three ranks, the last
  return problem;
}

void expect_wanted_ranks(Placing placing) {
  const Partition partition = place(wanted_somewhere(), placing, 3);
  EXPECT_EQ(partition.rank_of(0), 1);
  EXPECT_EQ(partition.rank_of(7), 1);
  EXPECT_EQ(partition.rank_of(3), 2);
}

TEST(Placement, WhoIsWantedSomewhereIsThereAndOthersFillTheRest) {
  for (const Placing placing : {Placing::blocks, Placing::automatic}) expect_wanted_ranks(placing);
  const PlacementProblem problem = wanted_somewhere();
  EXPECT_LT(costs(problem, in_blocks(problem, 3), 3).load, 1.2);  // 3 of 8/3
}

PlacementProblem motors() {
  PlacementProblem problem = chain(6);
  for (const std::size_t k : {0, 1, 4}) problem.alone[k] = "motor.fmu";
  return problem;
}

void expect_motors_apart(Placing placing) {
  const Partition partition = place(motors(), placing, 3);
  const std::vector<int> ranks{partition.rank_of(0), partition.rank_of(1), partition.rank_of(4)};
  EXPECT_TRUE(std::is_permutation(ranks.begin(), ranks.end(), std::vector<int>{0, 1, 2}.begin()));
}

TEST(Placement, WhoCannotShareAProcessIsApartAsFarAsThereAreRanks) {
  expect_motors_apart(Placing::blocks);
  EXPECT_EQ(place(motors(), Placing::blocks, 2).ranks().size(), 6U);
}

TEST(Placement, GroupsStayOnOneRankAndRanksGetEqualWork) {
  PlacementProblem problem = problem_of(4, {});
  problem.network.effort = {4, 1, 2, 1};
  EXPECT_EQ(in_groups(problem, {{1, 2}, {0}, {3}}, 2).ranks(), (std::vector<int>{0, 1, 1, 1}));
  problem.alone[0] = problem.alone[3] = "motor.fmu";
  EXPECT_EQ(in_groups(problem, {{1, 2}, {0}, {3}}, 2).ranks(), (std::vector<int>{0, 1, 1, 1}));
  problem.network.effort = {4, 3, 3, 1};
  EXPECT_EQ(in_groups(problem, {{1, 2}, {0}, {3}}, 2).ranks(), (std::vector<int>{1, 0, 0, 0}));
  problem.wanted[2] = 3;
  EXPECT_EQ(in_groups(problem, {{1, 2}, {0}, {3}}, 2).ranks(), (std::vector<int>{0, 1, 1, 1}));
}

TEST(Placement, CostsAreThoseOfTheBusiestRankAndOfSignalsBetweenRanks) {
  const PlacementCosts found = costs(chain(4), Partition({0, 0, 0, 1}), 3);
  EXPECT_DOUBLE_EQ(found.load, 9.0 / 4.0);
  EXPECT_DOUBLE_EQ(found.cut, 2.0 / 6.0);
  EXPECT_EQ(found.most_partners, 1);
}

TEST(Placement, BlocksRemainWhereTheyAreGood) {
  const PlacementProblem problem = chain(1000);
  EXPECT_EQ(place(problem, Placing::automatic, 8).ranks(), in_blocks(problem, 8).ranks());
}

// By a partitioner of PETSc's for its indices, which Debian's has (tests/petsc64.sh: not the
// other).

TEST(PlacementInPieces, WishesCount) {
  expect_wanted_ranks(Placing::graph);
  expect_motors_apart(Placing::graph);
}

/// Four quarters of a grid of 16 x 16 cut 32 of its 480 pairs.
TEST(PlacementInPieces, PiecesOfAGridAreCompact) {
  const PlacementProblem grid = shuffled_grid(16);
  EXPECT_GT(costs(grid, in_blocks(grid, 4), 4).cut, 0.6);
  const Partition pieces = in_pieces(grid, 4).value();
  EXPECT_LT(costs(grid, pieces, 4).cut, 1.3 * 32.0 / 480.0);
  EXPECT_LT(costs(grid, pieces, 4).load, 1.05);
  EXPECT_EQ(in_pieces(grid, 4).value().ranks(), pieces.ranks());
  EXPECT_EQ(place(grid, Placing::automatic, 4).ranks(), pieces.ranks());
}

TEST(PlacementInPieces, GetEqualWork) {
  PlacementProblem grid = shuffled_grid(20);
  for (std::size_t k = 0; k < grid.size(); k += 3) grid.network.effort[k] = 7.0;
  EXPECT_LT(costs(grid, in_pieces(grid, 5).value(), 5).load, 1.1);
}

}  // namespace
}  // namespace concord

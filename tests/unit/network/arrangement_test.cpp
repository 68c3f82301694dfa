#include "network/schedule/arrangement.hpp"

#include <gtest/gtest.h>

#include <random>

namespace concord {
namespace {

std::vector<std::size_t> in_order(const RunningOrder& order) {
  std::vector<std::size_t> result;
  for (std::size_t k = order.begin(); k != order.end(); k = order.next(k)) {
    result.push_back(k);
  }
  return result;
}

TEST(RunningOrder, IsTheGroupsOneAfterTheOther) {
  const RunningOrder order(4, {{2, 0}, {}, {3, 1}});
  EXPECT_EQ(in_order(order), (std::vector<std::size_t>{2, 0, 3, 1}));
  EXPECT_EQ(order.previous(order.end()), 1U);
}

/// Halving the gap between the same two neighbours runs out of numbers after 52 moves.
TEST(RunningOrder, PlacesStayInOrderWhereMovesLeaveNoRoom) {
  RunningOrder order(4, {{0, 1, 2, 3}});
  for (int move = 0; move < 200; ++move) {
    const std::size_t k = move % 2 == 0 ? 2 : 1;
    order.take_out(k);
    order.put_in(k, 0, order.next(0));
    const auto now = in_order(order);
    ASSERT_EQ(now.size(), 4U);
    ASSERT_EQ(now[1], k);
    for (std::size_t i = 1; i < now.size(); ++i) {
      ASSERT_LT(order.place(now[i - 1]), order.place(now[i])) << "after move " << move;
    }
  }
}

TEST(GroupLoads, TellTheLongestAndWhichAreEmpty) {
  GroupLoads loads({1.0, 2.0, 4.0}, {{0, 1}, {2}});
  EXPECT_EQ(loads[0], 3.0);
  EXPECT_EQ(loads.longest_without(1, 2), 3.0);
  EXPECT_EQ(loads.empty(), 2U);
  loads.move(4.0, 1, 2);
  EXPECT_EQ(loads[1], 0.0);
  EXPECT_EQ(loads[2], 4.0);
  EXPECT_EQ(loads.empty(), 1U);
  EXPECT_EQ(loads.longest_without(0, 1), 4.0);
  EXPECT_EQ(loads.longest_without(0, 2), 0.0);
}

TEST(SignalNeighbours, AreThoseOfBothDirectionsButOneself) {
  ScheduleProblem problem{{{{0, 9.0}, {1, 2.0}}, {{0, 3.0}}, {}}, {1.0, 1.0, 1.0}};
  const SignalNeighbours neighbours(problem);
  double received = 0.0, given = 0.0;
  for (std::size_t e = 0; e < neighbours.of(0).size(); ++e) {
    EXPECT_EQ(neighbours.of(0)[e], 1U);
    received += neighbours.received_by(0)[e];
    given += neighbours.given_by(0)[e];
  }
  EXPECT_EQ(received, 2.0);
  EXPECT_EQ(given, 3.0);
  EXPECT_TRUE(neighbours.of(2).empty());
}

/// What a move promises is what the costs of the groups fall by, from random moves on.
TEST(Arrangement, GainsAreWhatTheCostsFallBy) {
  constexpr double w = 0.3;
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  ScheduleProblem problem{std::vector<std::vector<ScheduleProblem::Signals>>(8),
                          {1.0, 2.0, 3.0, 1.0, 2.0, 5.0, 1.0, 4.0}};
  for (std::size_t k = 0; k < 8; ++k) {
    problem.received[k] = {{(k + 1) % 8, 1.0}, {(k + 3) % 8, 2.0}};
  }
  const auto cost = [&](const Arrangement& arrangement) {
    return costs(problem, arrangement.groups()).weighted(w);
  };
  Arrangement arrangement(problem, w, {{0, 1, 2, 3}, {4, 5, 6}, {7}});
  for (int n = 0; n < 100; ++n) {
    const std::size_t k = pick(8);
    const Arrangement::Move move = arrangement.best_move(k, pick(8));
    const double before = cost(arrangement);
    arrangement.make(k, move);
    ASSERT_NEAR(before - cost(arrangement), move.gain, 1e-12) << "move " << n;
  }
}

}  // namespace
}  // namespace concord

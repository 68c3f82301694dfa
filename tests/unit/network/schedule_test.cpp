#include "network/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "network/schedule/schedule_search.hpp"

namespace concord {
namespace {

/// `signals`: [k][j], how many k receives from j.
ScheduleProblem problem_of(const std::vector<std::vector<double>>& signals,
                           std::vector<double> effort) {
  ScheduleProblem problem{std::vector<std::vector<ScheduleProblem::Signals>>(effort.size()),
                          std::move(effort)};
  for (std::size_t k = 0; k < signals.size(); ++k) {
    for (std::size_t j = 0; j < signals.size(); ++j) {
      if (signals[k][j] > 0.0) {
        problem.received[k].push_back({j, signals[k][j]});
      }
    }
  }
  return problem;
}

/// Holzinger and Benedikt 2019, table 1 and eq. (4); row k: what subsystem k receives.
ScheduleProblem hybrid_vehicle() {
  return problem_of({{0, 0, 2, 0, 0, 0, 0, 2, 0, 0},
                     {2, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                     {0, 2, 0, 0, 1, 0, 1, 2, 2, 1},
                     {0, 0, 2, 0, 0, 0, 0, 0, 1, 0},
                     {0, 0, 0, 0, 0, 0, 1, 1, 0, 0},
                     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                     {0, 0, 0, 0, 0, 1, 0, 1, 0, 0},
                     {2, 0, 0, 0, 0, 0, 0, 0, 1, 1},
                     {0, 0, 0, 1, 0, 0, 0, 1, 0, 0},
                     {0, 0, 0, 0, 0, 0, 0, 1, 0, 0}},
                    {17.3, 1.9, 4.9, 2.3, 1.9, 2.0, 1.8, 27.8, 11.4, 28.7});
}

Groups numbered_from_one(Groups groups) {
  for (auto& group : groups) {
    std::transform(group.begin(), group.end(), group.begin(), [](std::size_t k) { return k - 1; });
  }
  return groups;
}

/// Each receives from one in `rareness` of the others.
ScheduleProblem random_problem(std::size_t n, unsigned seed, unsigned rareness = 3) {
  std::mt19937 random(seed);
  std::vector signals(n, std::vector<double>(n, 0.0));
  std::vector<double> effort(n);
  for (std::size_t k = 0; k < n; ++k) {
    effort[k] = 1.0 + static_cast<double>(random() % 10);
    for (std::size_t j = 0; j < n; ++j) {
      signals[k][j] =
          j != k && random() % rareness == 0 ? 1.0 + static_cast<double>(random() % 3) : 0.0;
    }
  }
  return problem_of(signals, effort);
}

/// The best of all orders, cut into runs in all ways.
double by_trying_all(const ScheduleProblem& problem, double w) {
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0);
  double best = 2.0;
  do {
    for (unsigned cuts = 0; cuts < 1u << (problem.size() - 1); ++cuts) {
      Groups groups{{}};
      for (std::size_t m = 0; m < order.size(); ++m) {
        groups.back().push_back(order[m]);
        if (m + 1 < order.size() && (cuts >> m & 1) != 0) {
          groups.emplace_back();
        }
      }
      best = std::min(best, costs(problem, groups).weighted(w));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Schedule, ExactOptimaOfTheHybridVehicle) {
  const ScheduleProblem problem = hybrid_vehicle();
  const double expected[][2] = {
      {0.0, 0.2414}, {0.25, 0.4110}, {0.5, 0.4538}, {0.75, 0.3704}, {1.0, 0.2870}};
  for (const auto& [w, optimum] : expected) {
    EXPECT_NEAR(costs(problem, best_groups(problem, w)).weighted(w), optimum, 5e-5) << w;
  }
}

TEST(Schedule, CostsOfThePapersGroupings) {
  const ScheduleProblem problem = hybrid_vehicle();
  const auto cost = [&](double w, const Groups& groups) {
    return costs(problem, numbered_from_one(groups)).weighted(w);
  };
  EXPECT_NEAR(cost(0.0, {{6, 10, 9, 8, 7, 5, 3, 4, 1, 2}}), 0.2414, 5e-5);
  EXPECT_NEAR(cost(0.25, {{6, 10}, {9, 8, 7, 5, 3, 4, 1, 2}}), 0.4319, 5e-5);
  EXPECT_NEAR(cost(0.5, {{6, 10}, {9, 8, 7, 5, 3, 4}, {1, 2}}), 0.4919, 5e-5);
  EXPECT_NEAR(cost(0.75, {{6, 10}, {9}, {8}, {7}, {5, 3, 4, 1, 2}}), 0.4199, 5e-5);
  EXPECT_NEAR(cost(1.0, {{6, 10}, {9}, {8}, {7}, {5, 4, 3, 2, 1}}), 0.3070, 5e-5);
}

TEST(Schedule, ExactSearchIsAsGoodAsTryingAll) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const ScheduleProblem problem = random_problem(6, seed);
    for (const double w : {0.0, 0.2, 0.5, 0.9, 1.0}) {
      EXPECT_NEAR(costs(problem, exact_groups(problem, w)).weighted(w), by_trying_all(problem, w),
                  1e-12);
    }
    EXPECT_NEAR(costs(problem, exact_sequence(problem)).extrapolated, by_trying_all(problem, 0.0),
                1e-12);
  }
}

/// Extrapolated signals of each set as one group: of its best last member and those before it.
std::vector<double> extrapolated_by_set(const ScheduleProblem& problem) {
  std::vector<double> extrapolated(std::size_t{1} << problem.size(), 0.0);
  for (std::size_t s = 1; s < extrapolated.size(); ++s) {
    extrapolated[s] = 1e300;
    for (std::size_t k = 0; k < problem.size(); ++k) {
      const std::size_t others = s & ~(std::size_t{1} << k);
      double sum = extrapolated[others];
      for (const auto& [from, count] : problem.received[k]) {
        sum += (others >> from & 1) != 0 ? 0.0 : count;
      }
      extrapolated[s] = others != s ? std::min(extrapolated[s], sum) : extrapolated[s];
    }
  }
  return extrapolated;
}

double effort_of(const ScheduleProblem& problem, std::size_t set) {
  double effort = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    effort += (set >> k & 1) != 0 ? problem.effort[k] : 0.0;
  }
  return effort;
}

/// The least cost over all durations and all 3^n pairs of a set and the group that its first member
/// is in.
double by_all_subsets(const ScheduleProblem& problem, double w) {
  const std::vector<double> group = extrapolated_by_set(problem);
  const double work = effort_of(problem, group.size() - 1);
  double signals = 0.0, best = 2.0;
  for (const auto& received : problem.received) {
    for (const auto& [from, count] : received) {
      signals += count;
    }
  }
  for (double longest = 1.0; longest <= work; longest += 1.0) {  // efforts are whole numbers
    std::vector<double> divided(group.size(), 1e300);
    divided[0] = 0.0;
    for (std::size_t s = 1; s < group.size(); ++s) {
      for (std::size_t part = s; part != 0; part = (part - 1) & s) {
        if ((part & (~s + 1) & s) != 0 && effort_of(problem, part) <= longest) {
          divided[s] = std::min(divided[s], group[part] + divided[s & ~part]);
        }
      }
    }
    best = std::min(best, (1.0 - w) * (signals > 0.0 ? divided.back() / signals : 0.0) +
                              w * longest / work + (divided.back() < 1e300 ? 0.0 : 2.0));
  }
  return best;
}

TEST(Schedule, ExactSearchIsAsGoodAsAllSubsets) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const unsigned rareness : {2, 6, 1000}) {
      const ScheduleProblem problem = random_problem(8, seed, rareness);
      for (const double w : {0.0, 0.25, 0.5, 0.9, 1.0}) {
        EXPECT_NEAR(costs(problem, exact_groups(problem, w)).weighted(w),
                    by_all_subsets(problem, w), 1e-12);
      }
    }
  }
}

TEST(Schedule, GoodSearchComesNearTheOptimum) {
  double worst = 0.0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const ScheduleProblem problem = random_problem(10, seed);
    for (const double w : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double optimum = costs(problem, exact_groups(problem, w)).weighted(w);
      const double good = costs(problem, good_groups(problem, w)).weighted(w);
      EXPECT_GE(good, optimum - 1e-12);
      worst = std::max(worst, good / optimum);
    }
    EXPECT_NEAR(costs(problem, good_sequence(problem)).extrapolated,
                costs(problem, exact_sequence(problem)).extrapolated, 0.02);
  }
  EXPECT_LT(worst, 1.1);
  RecordProperty("worst_ratio", std::to_string(worst));
}

/// Masses in a row, each coupled with both neighbours: of every pair one signal can be known.
ScheduleProblem row_of_masses(std::size_t n) {
  ScheduleProblem problem{std::vector<std::vector<ScheduleProblem::Signals>>(n),
                          std::vector<double>(n, 1.0)};
  for (std::size_t k = 0; k + 1 < n; ++k) {
    problem.received[k].push_back({k + 1, 1.0});
    problem.received[k + 1].push_back({k, 1.0});
  }
  return problem;
}

/// In m pieces of a row 19 + m - 1 of 38 signals are extrapolated.
TEST(Schedule, TwentySubsystemsAreScheduledBest) {
  const ScheduleProblem problem = row_of_masses(20);
  ASSERT_EQ(problem.size(), largest_exact_schedule);
  for (const double w : {0.0, 0.5, 1.0}) {
    double best = 2.0;
    for (int m = 1; m <= 20; ++m) {
      best = std::min(best, (1.0 - w) * (18 + m) / 38.0 + w * std::ceil(20.0 / m) / 20.0);
    }
    EXPECT_NEAR(costs(problem, best_groups(problem, w)).weighted(w), best, 1e-12) << w;
  }
  EXPECT_EQ(costs(problem, best_sequence(problem)).extrapolated, 0.5);
}

TEST(Schedule, LongRowsAreScheduledBestAndSoon) {
  const ScheduleProblem problem = row_of_masses(100000);
  EXPECT_NEAR(costs(problem, best_sequence(problem)).extrapolated, 0.5, 1e-12);
  const double halves = costs(problem, best_groups(problem, 0.5)).weighted(0.5);
  EXPECT_LT(halves, 0.26);
}

TEST(Schedule, ManySubsystemsAreScheduledWhole) {
  const ScheduleProblem problem = random_problem(60, 7);
  for (const double w : {0.0, 0.5, 1.0}) {
    std::vector<std::size_t> all;
    for (const auto& group : best_groups(problem, w)) {
      all.insert(all.end(), group.begin(), group.end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), problem.size());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  }
  EXPECT_EQ(best_sequence(problem).size(), 1u);
}

TEST(Schedule, EquallyGoodOrdersFollowTheModelFile) {
  const ScheduleProblem problem = problem_of({{0, 1}, {1, 0}}, {1.0, 1.0});
  EXPECT_EQ(best_sequence(problem), (Groups{{0, 1}}));
}

}  // namespace
}  // namespace concord

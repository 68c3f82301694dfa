#include "stepping/step_controller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "concord/archive.hpp"

namespace concord {
namespace {

TEST(FixedSteps, TimesAreStartPlusMultiplesExactly) {
  constexpr double start = 0.3, size = 0.1;
  FixedSteps steps(start, 1000.3, size);
  long n = 0;
  double previous_end = start;
  while (!steps.finished()) {
    const auto [begin, end, h] = steps.propose();
    ASSERT_NEAR(h, size, n < 9999 ? 0.0 : 1e-12);
    ASSERT_EQ(begin, previous_end);
    ASSERT_EQ(begin, start + static_cast<double>(n) * size);
    steps.accepted();
    previous_end = end;
    ++n;
  }
  EXPECT_EQ(n, 10000);
  EXPECT_EQ(previous_end, 1000.3);
}

TEST(FixedSteps, LastStepIsShortWhereTheSizeDoesNotFit) {
  FixedSteps steps(0.0, 1.0, 0.3);
  for (int i = 0; i < 3; ++i) {
    steps.accepted();
  }
  EXPECT_EQ(steps.propose().begin, 3 * 0.3);
  EXPECT_EQ(steps.propose().end, 1.0);
  steps.accepted();
  EXPECT_TRUE(steps.finished());
}

/// Who stops over often remembers what is ahead, however often that is written and read.
TEST(FixedSteps, StopsAreForgottenBehind) {
  FixedSteps steps(0.0, 100.0, 1.0, {50.5});
  const auto memory = [&] {
    Archive archive;
    steps.io(archive);
    archive.begin_reading();
    steps.io(archive);
    return archive.bytes().size();
  };
  steps.stop_over(0.25);
  const std::size_t first = memory();
  for (int n = 0; n < 99; ++n) {
    const double stop = n + 0.25;
    steps.stop_over(stop);
    steps.stop_over(stop);
    for (double end = 0.0; end != stop; steps.accepted()) end = steps.propose().end;
    EXPECT_EQ(memory(), first);
  }
  steps.stop_over(99.75);
  steps.stop_over(99.5);
  std::vector<double> ends;
  for (; !steps.finished(); steps.accepted()) ends.push_back(steps.propose().end);
  EXPECT_EQ(ends, (std::vector<double>{99.25, 99.5, 99.75, 100.0}));
}

TEST(FixedSteps, SliversAreNotSteps) {
  // 0.1 * 3 > 0.3 by rounding, and the other way round; a sliver of 1e-9 of a step.
  for (const double stop : {0.3, 0.1 * 3, 0.3 + 1e-10, 0.3 - 1e-10}) {
    FixedSteps steps(0.0, stop, 0.1);
    int count = 0;
    double end = 0.0;
    for (; !steps.finished(); ++count) {
      end = steps.propose().end;
      steps.accepted();
    }
    EXPECT_EQ(count, 3) << stop;
    EXPECT_EQ(end, stop);
  }
}

TEST(FixedSteps, AStepLongerThanTheExperimentIsOneStep) {
  FixedSteps steps(2.0, 3.0, 10.0);
  EXPECT_EQ(steps.propose().begin, 2.0);
  EXPECT_EQ(steps.propose().end, 3.0);
  steps.accepted();
  EXPECT_TRUE(steps.finished());
}

TEST(FixedSteps, ARejectedStepIsTheEnd) { EXPECT_FALSE(FixedSteps(0, 1, 0.1).rejected()); }

double size_of(const StepController& steps) { return steps.propose().size; }

TEST(IterationSteps, WithoutRejectionsTimesAreMultiples) {
  IterationSteps steps(0.0, 10.0, 0.1, 1e-6);
  long n = 0;
  for (; !steps.finished(); ++n) {
    ASSERT_EQ(steps.propose().begin, static_cast<double>(n) * 0.1);
    steps.accepted();
  }
  EXPECT_EQ(n, 100);
}

TEST(IterationSteps, HalfAfterRejection) {
  IterationSteps steps(1.0, 10.0, 0.5, 1e-6);
  steps.accepted();
  EXPECT_TRUE(steps.rejected());
  EXPECT_EQ(steps.propose().begin, 1.5);
  EXPECT_EQ(steps.propose().end, 1.75);
  EXPECT_TRUE(steps.rejected());
  EXPECT_EQ(steps.propose().begin, 1.5);
  EXPECT_EQ(steps.propose().end, 1.625);
}

TEST(IterationSteps, GrowsByThirtyPercentUpToTheLargest) {
  IterationSteps steps(0.0, 100.0, 1.0, 1e-6);
  steps.rejected();
  steps.rejected();
  double expected = 0.25;
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(size_of(steps), expected, 1e-14) << i;
    const double end = steps.propose().end;
    steps.accepted();
    EXPECT_EQ(steps.propose().begin, end) << "steps join exactly";
    expected = std::min(1.0, 1.3 * expected);
  }
  EXPECT_EQ(expected, 1.0);
}

TEST(IterationSteps, LastStepHitsTheStopExactly) {
  IterationSteps steps(0.0, 1.0, 0.3, 1e-9);
  steps.rejected();
  double end = 0.0;
  for (int i = 0; !steps.finished(); ++i) {
    ASSERT_LT(i, 100);
    const auto step = steps.propose();
    EXPECT_GT(step.end, step.begin);
    EXPECT_LE(step.end, 1.0);
    end = step.end;
    steps.accepted();
  }
  EXPECT_EQ(end, 1.0);
}

TEST(IterationSteps, SliversAreNotSteps) {
  IterationSteps steps(0.0, 0.3 + 1e-10, 0.1, 1e-9);
  int count = 0;
  for (; !steps.finished(); ++count) {
    steps.accepted();
  }
  EXPECT_EQ(count, 3);
}

TEST(IterationSteps, ARejectedLastStepIsHalvedFromWhatWasTried) {
  IterationSteps steps(0.0, 1.0, 0.8, 1e-9);
  steps.accepted();
  EXPECT_EQ(steps.propose().end, 1.0);  // 0.2 instead of 0.8
  EXPECT_TRUE(steps.rejected());
  EXPECT_NEAR(size_of(steps), 0.1, 1e-15);
}

TEST(IterationSteps, GivesUpAfterTheSmallest) {
  IterationSteps steps(0.0, 1.0, 0.1, 0.02);
  for (const double size : {0.05, 0.025, 0.02}) {
    EXPECT_TRUE(steps.rejected());
    EXPECT_EQ(size_of(steps), size);
  }
  EXPECT_FALSE(steps.rejected());
}

constexpr double far_starts[] = {0.0, 1e6, 1.7e9, -1e9};

/// Wherever time begins, as many steps of exactly the same sizes; events where a double has them.
TEST(FarTimes, FixedStepsHaveExactlyTheirSize) {
  for (const double start : far_starts) {
    FixedSteps steps(start, start + 10.0, 1e-2, {start + 2.503, start + 5.0});
    int short_ones = 0, count = 0;
    for (; !steps.finished(); ++count, steps.accepted()) {
      short_ones += size_of(steps) != 1e-2;
      EXPECT_NEAR(steps.propose().end - steps.propose().begin, size_of(steps), 5e-7);
    }
    EXPECT_EQ(count, 1001) << start;
    EXPECT_EQ(short_ones, 2) << start << ": before 2.503, and before 5";
  }
}

/// An event that a double rounds by more than a millionth of the step makes no step of its own.
TEST(FarTimes, TheShortestStepIsSixteenSpacings) {
  const double eps = std::numeric_limits<double>::epsilon();
  for (const double sign : {1.0, -1.0}) {
    EXPECT_DOUBLE_EQ(shortest_step(sign * 1e9, 0.1), 16.0 * eps * 1e9);
    EXPECT_DOUBLE_EQ(shortest_step(sign * 1e-3, 0.1), 16.0 * eps * 0.1);
  }
}

TEST(FarTimes, RoundingIsNoStep) {
  for (const double start : far_starts) {
    FixedSteps steps(start, start + 1.0, 0.01, {start + 0.3, start + 0.7});
    int count = 0;
    for (; !steps.finished(); ++count, steps.accepted()) {
      EXPECT_EQ(size_of(steps), 0.01) << start << " " << count;
    }
    EXPECT_EQ(count, 100) << start;
  }
}

TEST(FarTimes, IterationStepsShrinkAndGrowAsAtZero) {
  std::vector<double> expected;
  for (const double start : far_starts) {
    IterationSteps steps(start, start + 8.0, 0.1, 1e-3, {start + 3.0});
    std::vector<double> sizes;
    for (int n = 0; !steps.finished(); ++n) {
      ASSERT_LT(n, 1000);
      if (n % 7 == 3) {
        steps.rejected();
      } else {
        sizes.push_back(size_of(steps));
        steps.accepted();
      }
    }
    expected = expected.empty() ? sizes : expected;
    ASSERT_EQ(sizes.size(), expected.size()) << start;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      EXPECT_NEAR(sizes[n], expected[n], 1e-12) << start << " " << n;
    }
  }
}

TEST(Events, FixedStepsCountFromTheLastEvent) {
  FixedSteps steps(0.0, 1.0, 0.1, {-3.0, 0.25, 0.6, 1.0, 4.0});
  std::vector<double> ends;
  while (!steps.finished()) {
    ends.push_back(steps.propose().end);
    steps.accepted();
  }
  const std::vector<double> expected{
      0.1,       0.2,           0.25,          0.25 + 0.1, 0.25 + 2 * 0.1, 0.25 + 3 * 0.1, 0.6,
      0.6 + 0.1, 0.6 + 2 * 0.1, 0.6 + 3 * 0.1, 1.0};
  EXPECT_EQ(ends, expected);
}

TEST(Events, IterationStepsEndThereAfterRejectionsToo) {
  IterationSteps steps(0.0, 1.0, 0.3, 1e-6, {0.5});
  int hits = 0;
  for (int n = 0; !steps.finished(); ++n) {
    ASSERT_LT(n, 100);
    if (n % 3 == 1) {
      ASSERT_TRUE(steps.rejected());
    } else {
      hits += steps.propose().end == 0.5;
      steps.accepted();
    }
  }
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(steps.propose().begin, 1.0);
}

std::vector<double> ends(FixedSteps& steps, int count) {
  std::vector<double> result;
  for (int i = 0; i < count && !steps.finished(); ++i) {
    result.push_back(steps.propose().end);
    steps.accepted();
  }
  return result;
}

TEST(FixedSteps, end_where_they_are_told_and_count_from_there) {
  FixedSteps steps(0.0, 2.0, 0.1);
  steps.end_by(0.137);
  EXPECT_EQ(ends(steps, 4), (std::vector<double>{0.1, 0.137, 0.137 + 0.1, 0.137 + 0.2}));
}

TEST(FixedSteps, forget_an_end_that_is_taken_back) {
  FixedSteps steps(0.0, 2.0, 0.1);
  steps.end_by(0.05);
  EXPECT_EQ(steps.propose().end, 0.05);
  steps.end_by(0.07);
  EXPECT_EQ(steps.propose().end, 0.07);
  steps.end_by(std::numeric_limits<double>::infinity());
  EXPECT_EQ(steps.propose().end, 0.1);
}

TEST(FixedSteps, keep_an_end_beyond_an_event) {
  FixedSteps steps(0.0, 2.0, 0.25, {0.5});
  steps.end_by(0.625);
  EXPECT_EQ(ends(steps, 4), (std::vector<double>{0.25, 0.5, 0.625, 0.875}));
}

}  // namespace
}  // namespace concord

#include "stepping/error_controlled_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "concord/archive.hpp"

namespace concord {
namespace {

constexpr ErrorControlledSteps::Limits wide{0.0, 10.0, 1.0, 1e-9};

double size_of(const ErrorControlledSteps& steps) { return steps.propose().size; }

TEST(ErrorControlledSteps, SettlesWhereTheErrorIsTheSafetyFactorsShare) {
  for (const int order : {0, 1, 2, 3}) {
    ErrorControlledSteps steps({0.0, 1e9, 1e6, 1e-9}, 1.0, {});
    const auto error = [&] { return std::pow(size_of(steps) / 0.01, order + 1); };
    for (int n = 0; n < 200; ++n) {
      error() > 1.0 ? static_cast<void>(steps.reject(error(), order))
                    : steps.accept(error(), order);
    }
    EXPECT_GT(size_of(steps), 0.5 * 0.01) << order;
    EXPECT_LT(size_of(steps), 0.01) << order;
  }
}

TEST(ErrorControlledSteps, EndsExactlyAtTheStopAndAtExactTimes) {
  const std::vector<double> events{-1.0, 0.0, 1.0, 2.5, 10.0, 12.0};
  for (const double size : {0.07, 0.3, 0.7, 1.0}) {
    ErrorControlledSteps steps(wide, size, events);
    int hits = 0;
    double end = 0.0;
    while (!steps.finished()) {
      ASSERT_EQ(steps.propose().begin, end);
      end = steps.propose().end;
      ASSERT_GT(size_of(steps), 0.0);
      hits += end == 1.0 || end == 2.5;
      steps.accepted();
    }
    EXPECT_EQ(hits, 2) << size;
    EXPECT_EQ(end, 10.0) << size;
  }
}

TEST(ErrorControlledSteps, KeptStepWithTooLargeAnErrorMakesTheNextOneSmaller) {
  ErrorControlledSteps steps(wide, 0.1);
  steps.accept(16.0, 1);
  EXPECT_EQ(steps.propose().begin, 0.1);
  EXPECT_LT(size_of(steps), 0.05);
}

TEST(ErrorControlledSteps, RejectionShrinksDownToTheSmallestSize) {
  ErrorControlledSteps steps({0.0, 1.0, 1.0, 1e-3}, 0.1);
  ASSERT_TRUE(steps.reject(4.0, 1));
  EXPECT_NEAR(size_of(steps), 0.035, 1e-12);
  for (int n = 0; n < 10 && steps.reject(std::numeric_limits<double>::quiet_NaN(), 1); ++n) {
  }
  EXPECT_NEAR(size_of(steps), 1e-3, 1e-12);
  EXPECT_FALSE(steps.reject(4.0, 1));
  EXPECT_FALSE(steps.rejected());
}

/// Errors that do not fall with the size, accepted or not.
TEST(ErrorControlledSteps, StallWhereNoiseMakesThemShort) {
  ErrorControlledSteps steps({0.0, 1.0, 1.0, 0.0}, 0.01);
  long taken = 0;
  while (!steps.stalls() && ++taken < 2 * ErrorControlledSteps::patience) steps.accept(0.9, 3);
  EXPECT_TRUE(steps.stalls());
  EXPECT_GT(taken, ErrorControlledSteps::patience);
  for (int n = 0; n < 20; ++n) steps.accept(1e-3, 3);
  EXPECT_FALSE(steps.stalls());
}

/// After an event: the size that is given, whatever errors were before, and quick growth.
TEST(ErrorControlledSteps, BeginsAnewWithoutMemory) {
  std::vector<double> expected;
  for (const double before : {1e-9, 1.0, 7.0}) {
    ErrorControlledSteps steps({0.0, 1e3, 10.0, 1e-9}, 0.1);
    for (int n = 0; n < 4; ++n) steps.accept(before, 2);
    steps.begin_anew(1e-4);
    std::vector<double> sizes;
    for (int n = 0; n < 8; ++n) {
      sizes.push_back(size_of(steps));
      steps.accept(std::pow(size_of(steps) / 0.05, 3), 2);
    }
    expected = expected.empty() ? sizes : expected;
    EXPECT_EQ(sizes, expected) << before;
  }
  EXPECT_EQ(expected[0], 1e-4);
  EXPECT_NEAR(expected[1], 1e-3, 1e-15);
  EXPECT_GT(expected[7], 0.01);
  EXPECT_LT(expected[7], 0.05);
}

/// Wherever time begins: sizes are no differences of times.
TEST(ErrorControlledSteps, TakesTheSameStepsFarFromZero) {
  std::vector<double> expected;
  for (const double start : {0.0, 1e6, 1.7e9, -1e9}) {
    ErrorControlledSteps steps({start, start + 4.0, 1.0, 1e-6}, 1e-3, {start + 1.5});
    std::vector<double> sizes;
    for (int n = 0; !steps.finished(); ++n) {
      ASSERT_LT(n, 1000);
      const double error = std::pow(size_of(steps) / (0.02 + 0.01 * (n % 3)), 3);
      if (error <= 1.0) sizes.push_back(size_of(steps));
      error > 1.0 ? static_cast<void>(steps.reject(error, 2)) : steps.accept(error, 2);
    }
    expected = expected.empty() ? sizes : expected;
    ASSERT_EQ(sizes.size(), expected.size()) << start;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      EXPECT_NEAR(sizes[n], expected[n], 1e-12) << start << " " << n;
    }
  }
}

/// Far from zero the difference of two times is not the size: rounding is no smaller step.
TEST(ErrorControlledSteps, RejectionsEndAtAnyTime) {
  for (const double start : {0.0, 0.0459423928, 3.3, 1e3, 1e6}) {
    ErrorControlledSteps steps({start, start + 1.0, 1.0, 2e-8}, 0.1);
    int rejections = 0;
    while (rejections < 100 && steps.reject(4.0, 0)) ++rejections;
    EXPECT_LT(rejections, 100) << start;
  }
}

TEST(ErrorControlledSteps, TheSmallestSizeFollowsFromTheTimeNotFromTheStop) {
  for (const double stop : {1.0, 3e6, 3e12}) {
    ErrorControlledSteps steps({0.0, stop, stop, 0.0}, 0.0625);
    steps.accepted();
    const double begin = steps.propose().begin;
    while (steps.reject(1e9, 3)) {
      ASSERT_GT(steps.propose().end, begin);
    }
    EXPECT_LT(size_of(steps), 1e-14) << stop;
    const double end = steps.propose().end;
    steps.accepted();
    EXPECT_EQ(steps.propose().begin, end);
  }
}

TEST(ErrorControlledSteps, ANewBeginningIsWithinItsBounds) {
  ErrorControlledSteps steps({0.0, 10.0, 1.0, 1e-6}, 0.1);
  steps.begin_anew(1e-12);
  EXPECT_DOUBLE_EQ(size_of(steps), 1e-3 * 0.1);
  steps.begin_anew(7.0);
  EXPECT_DOUBLE_EQ(size_of(steps), 1.0);
  ErrorControlledSteps coarse({0.0, 10.0, 1.0, 0.05}, 0.1);
  coarse.begin_anew(1e-12);
  EXPECT_DOUBLE_EQ(size_of(coarse), 0.05);
}

/// The formula of the first macro-step, whose past error counts as 1, and of growth behind it.
TEST(ErrorControlledSteps, GrowsQuicklyUntilItHasItsSize) {
  ErrorControlledSteps steps({0.0, 1e9, 1e6, 1e-9}, 1.0);
  steps.accept(0.2, 1);
  const double settled = std::pow(0.7 / std::sqrt(0.2), 0.3) * std::pow(1.0 / 0.2, 0.2);
  EXPECT_NEAR(size_of(steps), settled, 1e-12);
  steps.accept(1e-9, 1);
  EXPECT_NEAR(size_of(steps), 2.0 * settled, 1e-12);
}

/// The controller's formula, with 1e-4 in the place of a past error that is smaller.
TEST(ErrorControlledSteps, AnErrorThatWasTinyIsForgottenSoon) {
  for (const double before : {1e-4, 1e-9}) {
    ErrorControlledSteps steps({0.0, 1e9, 1e6, 1e-9}, 1.0);
    steps.accept(before, 1);
    EXPECT_DOUBLE_EQ(size_of(steps), 10.0);
    steps.accept(0.2, 1);
    const double plain = 0.7 / std::sqrt(0.2);
    EXPECT_NEAR(size_of(steps), 10.0 * std::pow(plain, 0.3) * std::pow(1e-4 / 0.2, 0.2), 1e-12);
  }
}

TEST(ErrorControlledSteps, EndsAnywhereHoweverFarTheStopIs) {
  ErrorControlledSteps steps({0.0, 3e12, 1.0, 0.0}, 0.5);
  steps.end_by(1e-6);
  EXPECT_EQ(steps.propose().end, 1e-6);
}

TEST(ErrorControlledSteps, DoesNotGrowRightAfterARejection) {
  ErrorControlledSteps steps(wide, 0.1);
  steps.reject(4.0, 1);
  const double tried = size_of(steps);
  steps.accept(1e-6, 1);
  EXPECT_LE(size_of(steps), tried * (1.0 + 1e-12));
  steps.accept(1e-6, 1);
  EXPECT_GT(size_of(steps), 1.5 * tried);
}

/// What is planned there leaves all macro-steps before as they are.
TEST(ErrorControlledSteps, ATimeThatIsPlannedChangesNothingBefore) {
  const auto error = [](int n) { return std::pow(1.1 + std::sin(7.0 * n), 3.0) / 4.0; };
  const auto go_on = [&](ErrorControlledSteps& steps, int n) {
    while (error(n) > 2.0 && steps.reject(error(n), 1)) ++n;
    const double end = steps.propose().end;
    steps.accept(error(n), 1);
    return end;
  };
  int reached = 0;
  for (int planned_after = 0; planned_after < 40; ++planned_after) {
    ErrorControlledSteps one({0.0, 1e6, 1e5, 1e-9}, 0.1);
    std::vector<double> ends;
    for (int n = 0; n < planned_after; ++n) ends.push_back(go_on(one, n));
    const double planned = one.earliest_exact();
    EXPECT_GE(planned, one.propose().end);
    one.stop_over(planned);
    for (int n = planned_after; n < 60; ++n) ends.push_back(go_on(one, n));
    const bool come = planned <= ends.back();
    EXPECT_EQ(std::count(ends.begin(), ends.end(), planned), come ? 1 : 0);
    reached += come ? 1 : 0;
    ErrorControlledSteps other({0.0, 1e6, 1e5, 1e-9}, 0.1, {planned});
    for (int n = 0; n < 60; ++n) EXPECT_EQ(go_on(other, n), ends[n]) << planned_after;
  }
  EXPECT_EQ(reached, 40);
}

/// What goes on from an archive takes the same macro-steps, through rejections, a new start, known
/// ends and times that are added, as what was not interrupted.
TEST(ErrorControlledSteps, GoOnFromAnArchive) {
  const std::vector<double> events{2.5};
  for (int interrupted = 0; interrupted < 40; ++interrupted) {
    auto whole = std::make_unique<ErrorControlledSteps>(wide, 0.1, events);
    auto other = std::make_unique<ErrorControlledSteps>(wide, 0.1, events);
    for (int n = 0; n < 40 && !whole->finished(); ++n) {
      if (n == interrupted) {
        Archive written;
        other->io(written);
        other = std::make_unique<ErrorControlledSteps>(wide, 0.7, events);
        Archive read(written.bytes());
        other->io(read);
        ASSERT_TRUE(read.at_end());
      }
      for (ErrorControlledSteps* steps : {whole.get(), other.get()}) {
        if (n == 3) steps->stop_over(steps->propose().begin + 0.03);
        if (n == 5) steps->end_by(steps->propose().begin + 0.02);
        if (n == 12) steps->begin_anew(1e-3);
        if (n % 4 == 1) steps->reject(7.0, 2);
        if (n % 7 != 3) steps->accept(0.2 + 0.1 * (n % 5), 2);
      }
      const auto a = whole->propose(), b = other->propose();
      ASSERT_EQ(a.begin, b.begin) << interrupted << ' ' << n;
      ASSERT_EQ(a.end, b.end);
      ASSERT_EQ(a.size, b.size);
      ASSERT_EQ(whole->stalls(), other->stalls());
    }
  }
}

}  // namespace
}  // namespace concord

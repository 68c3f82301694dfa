#include "support/work_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace concord {
namespace {

constexpr double pause = 2e-3;  // s

void work(WorkClock& clock) {
  const WorkScope scope(clock, 1, Work::linearize);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
}

TEST(WorkClock, CountsNothingBeforeTheFirstMacroStep) {
  WorkClock clock(2);
  work(clock);
  EXPECT_EQ(clock.time(1, Work::linearize), 0.0);
}

TEST(WorkClock, LooksAtEveryLongMacroStep) {
  WorkClock clock(2);
  for (int step = 1; step <= 3; ++step) {
    clock.begin_step(step, pause);
    work(clock);
  }
  EXPECT_GE(clock.time(1, Work::linearize), 3 * pause);
  EXPECT_EQ(clock.time(0, Work::linearize), 0.0);
  EXPECT_EQ(clock.time(1, Work::advance), 0.0);
}

TEST(WorkClock, OfShortMacroStepsEverySixteenthCountsForAll) {
  WorkClock clock(2);
  int looks = 0;
  for (int step = 0; step < 32; ++step) {
    clock.begin_step(step, 1e-6);
    looks += clock.looks() ? 1 : 0;
  }
  EXPECT_EQ(looks, 2);
  clock.begin_step(32, 1e-6);
  work(clock);
  EXPECT_GE(clock.time(1, Work::linearize), 16 * pause);
}

TEST(WorkClock, KeepsIntervalsUpToALimit) {
  WorkClock clock(2);
  clock.trace(2);
  clock.begin_step(1, 1e-6);
  for (int i = 0; i < 3; ++i) work(clock);
  ASSERT_EQ(clock.traced().size(), 2u);
  EXPECT_EQ(clock.left_out(), 1u);
  EXPECT_EQ(clock.traced()[0].subsystem, 1u);
  EXPECT_EQ(clock.traced()[0].what, static_cast<int>(Work::linearize));
  EXPECT_GE(clock.traced()[0].end - clock.traced()[0].begin, pause - 1e-6);
  EXPECT_GE(clock.traced()[1].begin, clock.traced()[0].end - 1e-6);
}

TEST(WorkClock, WhatSubsystemsCostGoesIntoArchives) {
  WorkClock clock(2), other(2);
  clock.begin_step(0, 1.0);
  work(clock);
  Archive out;
  clock.io(out);
  Archive in(out.bytes());
  other.io(in);
  EXPECT_EQ(other.time(1, Work::linearize), clock.time(1, Work::linearize));
}

}  // namespace
}  // namespace concord

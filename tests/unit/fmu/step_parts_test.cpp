#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "subsystem/fmu/events_on_the_way.hpp"
#include "subsystem/fmu/move_watch.hpp"
#include "subsystem/fmu/slope_samples.hpp"
#include "subsystem/fmu/step_pieces.hpp"

namespace concord {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

TEST(EventsOnTheWay, OnlyThoseAtTheEndWait) {
  EventsOnTheWay events;
  events.note_slack(1e-3);
  const EventsOnTheWay::UnderWay under_way(events, 1.0);
  EXPECT_FALSE(events.meet(0.5, 0.4, true));
  EXPECT_TRUE(events.meet(0.998, 0.998, true));
  EXPECT_FALSE(events.meet(0.997, 0.997, true));
  EXPECT_FALSE(events.meet(1.0, 1.0, false));
  EXPECT_EQ(events.first(), 0.4);
}

TEST(EventsOnTheWay, HandledOnesAreToldOnce) {
  EventsOnTheWay events;
  {
    const EventsOnTheWay::UnderWay under_way(events, 1.0);
    events.meet(1.0, 1.0, true);
    EXPECT_FALSE(events.take_handled());
    events.meet(0.5, 0.5, true);
  }
  EXPECT_TRUE(events.take_handled());
  EXPECT_FALSE(events.take_handled());
}

TEST(EventsOnTheWay, OutsideOfMacroStepsNoneWaitsAndEachBeginsAnew) {
  EventsOnTheWay events;
  EXPECT_FALSE(events.meet(2.0, 2.0, true));
  EXPECT_FALSE(events.take_handled());
  const EventsOnTheWay::UnderWay under_way(events, 3.0);
  EXPECT_EQ(events.first(), never);
}

/// y = t^3 at 1, 1.1, ... and a signal that jumps between the second and the third.
SlopeSamples sampled(std::int64_t events_in_between) {
  SlopeSamples samples(2);
  samples.begin();
  for (int k = 0; k < sampled_ends; ++k) {
    const double t = 1.0 + 0.1 * k;
    const std::vector<double> y{t * t * t, k < 2 ? 5.0 : 7.0 + k};
    samples.take(k, y, 3 + (k < 2 ? 0 : events_in_between));
  }
  return samples;
}

TEST(SlopeSamples, CubicsAreDifferentiatedExactly) {
  std::vector<double> slopes(2);
  const SlopeSamples samples = sampled(0);
  EXPECT_TRUE(samples.complete());
  samples.at_end(0.1, slopes);
  EXPECT_NEAR(slopes[0], 3.0 * 1.3 * 1.3, 1e-12);
  samples.at_start(std::vector<double>{0.9 * 0.9 * 0.9, 5.0}, 0.1, slopes);
  EXPECT_NEAR(slopes[0], 3.0 * 0.9 * 0.9, 1e-12);
}

/// Neither rounding nor what the quartic misses is a slope.
TEST(SlopeSamples, PowersOfTimeBeginWithoutASlope) {
  const double distance = 4e-9;
  for (int power = 2; power <= 8; ++power) {
    SlopeSamples samples(2);
    samples.begin();
    for (int k = 0; k < sampled_ends; ++k) {
      const double rise = 0.3 * std::pow((k + 1) * distance, power);
      samples.take(k, std::vector<double>{rise, rise - 2e-9 * (k + 1)}, 0);
    }
    std::vector<double> slopes(2);
    samples.at_start(std::vector<double>{0.0, 0.0}, distance, slopes);
    EXPECT_EQ(slopes[0], 0.0) << power;
    EXPECT_NEAR(slopes[1], -2e-9 / distance, 1e-8) << power;
  }
}

TEST(SlopeSamples, BehindAnEventOnlyTheLastTwoCount) {
  std::vector<double> slopes(2);
  const SlopeSamples samples = sampled(1);
  EXPECT_FALSE(samples.complete());
  samples.at_end(0.1, slopes);
  EXPECT_NEAR(slopes[0], (1.3 * 1.3 * 1.3 - 1.2 * 1.2 * 1.2) / 0.1, 1e-12);
  EXPECT_NEAR(slopes[1], 10.0, 1e-12);
}

TEST(MoveWatch, LooksUntilItMovesAndThreeTimesAtMost) {
  MoveWatch moves;
  moves.look(false);
  EXPECT_TRUE(moves.looks());
  moves.look(true);
  EXPECT_FALSE(moves.looks());
  MoveWatch rests;
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(rests.looks());
    rests.look(false);
  }
  EXPECT_FALSE(rests.looks());
}

TEST(MacroStepPieces, AreCutAnewOnlyFromTheirBeginning) {
  MacroStepPieces pieces;
  PieceSettings settings{4, 0, true, 0.0, false};
  pieces.cut({1.0, 2.0}, false, false, settings);
  EXPECT_EQ(pieces.all().size(), 4U);
  EXPECT_EQ(pieces.distance(), 0.25);
  pieces.doubt(1.25);
  EXPECT_FALSE(pieces.outdated());
  pieces.doubt(1.0);
  EXPECT_TRUE(pieces.outdated());
  settings.micro_steps = 2;
  pieces.cut({1.0, 2.0}, false, false, settings);
  EXPECT_EQ(pieces.all().size(), 2U);
  EXPECT_FALSE(pieces.outdated());
  pieces.end();
  pieces.doubt(1.0);
  EXPECT_FALSE(pieces.outdated());
}

TEST(PieceSettings, CubicsNeedNoMicroSteps) {
  FmuUse use;
  use.micro_steps = 10;
  use.variable_steps = true;
  use.input_order = 3;
  EXPECT_EQ(piece_settings(use, true).micro_steps, 1);
  use.input_order = 2;
  EXPECT_EQ(piece_settings(use, true).micro_steps, 10);
  EXPECT_EQ(piece_settings(use, true).input_order, 2);
}

}  // namespace
}  // namespace concord

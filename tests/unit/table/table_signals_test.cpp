#include "subsystem/table/table_signals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace concord {
namespace {

TableSignals signals(Interpolation interpolation, Beyond before = Beyond::hold,
                     Beyond after = Beyond::hold) {
  return {{1.0, 2.0, 2.5, 4.0}, {{0.0, 3.0, 3.0, -3.0}}, interpolation, before, after};
}

TEST(TableSignals, LinesGoThroughTheRows) {
  const TableSignals table = signals(Interpolation::linear);
  EXPECT_DOUBLE_EQ(table.at(0, 1.5).value, 1.5);
  EXPECT_DOUBLE_EQ(table.at(0, 1.5).derivative, 3.0);
  EXPECT_DOUBLE_EQ(table.at(0, 3.0).value, 1.0);
  EXPECT_DOUBLE_EQ(table.at(0, 2.0).derivative, 0.0);  // what follows the row
  EXPECT_EQ(table.events(0.0, 10.0), (std::vector<double>{1.0, 2.0, 2.5, 4.0}));
  EXPECT_EQ(table.events(1.0, 2.5), (std::vector<double>{2.0, 2.5}));
}

TEST(TableSignals, StepsHoldTheRowBefore) {
  const TableSignals table = signals(Interpolation::step);
  EXPECT_EQ(table.at(0, 1.999).value, 0.0);
  EXPECT_EQ(table.at(0, 2.0).value, 3.0);
  EXPECT_EQ(table.at(0, 9.0).value, -3.0);
  // Nothing happens at 2.5, where the value stays, nor at the first row, which holds before.
  EXPECT_EQ(table.events(0.0, 10.0), (std::vector<double>{2.0, 4.0}));
}

TEST(TableSignals, CubicsAreSmoothBetweenTheEnds) {
  const TableSignals table = signals(Interpolation::cubic, Beyond::linear, Beyond::linear);
  for (const double t : {1.0, 2.0, 2.5, 4.0}) {
    const Sample left = table.at(0, t - 1e-9), right = table.at(0, t + 1e-9);
    EXPECT_NEAR(left.value, right.value, 1e-7);
    EXPECT_NEAR(left.derivative, right.derivative, 1e-7);
  }
  EXPECT_EQ(table.events(0.0, 10.0), std::vector<double>{});
}

TEST(TableSignals, CubicsReproduceParabolas) {
  std::vector<double> times, values;
  for (int i = 0; i < 7; ++i) {
    times.push_back(i);
    values.push_back(i * i - 2.0 * i);
  }
  const TableSignals table(times, {values}, Interpolation::cubic, Beyond::hold, Beyond::hold);
  for (double t = 0.0; t < 6.0; t += 0.37) {
    EXPECT_NEAR(table.at(0, t).value, t * t - 2.0 * t, 1e-12);
    EXPECT_NEAR(table.at(0, t).derivative, 2.0 * t - 2.0, 1e-12);
  }
}

TEST(TableSignals, RulesSayWhatIsBeyond) {
  EXPECT_DOUBLE_EQ(signals(Interpolation::linear, Beyond::linear).at(0, 0.0).value, -3.0);
  const TableSignals line = signals(Interpolation::linear, Beyond::hold, Beyond::linear);
  EXPECT_DOUBLE_EQ(line.at(0, 5.0).value, -7.0);
  EXPECT_DOUBLE_EQ(line.at(0, 4.0).derivative, -4.0);
  const TableSignals again = signals(Interpolation::linear, Beyond::repeat, Beyond::repeat);
  for (const double t : {1.0, 1.3, 2.2, 3.9}) {
    EXPECT_NEAR(again.at(0, t + 3.0).value, again.at(0, t).value, 1e-12) << t;
    EXPECT_NEAR(again.at(0, t - 6.0).value, again.at(0, t).value, 1e-12) << t;
  }
  EXPECT_TRUE(std::isnan(signals(Interpolation::linear, Beyond::error).at(0, 0.9).value));
  EXPECT_EQ(signals(Interpolation::linear, Beyond::error, Beyond::error).at(0, 4.0).value, -3.0);
}

TEST(TableSignals, RepeatedRowsHaveEventsAtTheirSeams) {
  const TableSignals again = signals(Interpolation::linear, Beyond::repeat, Beyond::repeat);
  EXPECT_EQ(again.events(-2.5, 8.0),
            (std::vector<double>{-2.0, -1.0, -0.5, 1.0, 2.0, 2.5, 4.0, 5.0, 5.5, 7.0, 8.0}));
}

/// A pulse of 1 in every round: what is looked up at an event is what follows it, just before what
/// was before, wherever sums of times round to.
void expect_pulses(const TableSignals& table, double from, double to, std::size_t events) {
  const std::vector<double> found = table.events(from, to);
  EXPECT_EQ(found.size(), events);
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    const double t = found[i];
    const double before = table.at(0, std::nextafter(t, -1e9)).value;
    EXPECT_EQ(table.at(0, std::nextafter(found[i + 1], -1e9)).value, table.at(0, t).value) << t;
    if (i > 0) {
      EXPECT_EQ(before, table.at(0, found[i - 1]).value) << t;
    }
  }
}

TEST(TableSignals, EventsOfShiftedRowsAreWhereTheRowsAre) {
  const std::vector<double> pulse{0.0, 1.0, 1.0, 0.0, 0.0};
  for (int k = 1; k < 200; ++k) {
    const double shift = 0.1 * k;
    const TableSignals table({0.0, 0.0, 0.01, 0.01, 1.0}, {pulse}, Interpolation::linear,
                             Beyond::hold, Beyond::hold, shift);
    const double end = 0.01 + shift;
    EXPECT_EQ(table.events(-1.0, 100.0), (std::vector<double>{shift, end}));
    EXPECT_EQ(table.at(0, shift).value, 1.0) << shift;
    EXPECT_EQ(table.at(0, std::nextafter(shift, 0.0)).value, 0.0) << shift;
    EXPECT_EQ(table.at(0, end).value, 0.0) << shift;
    EXPECT_EQ(table.at(0, std::nextafter(end, 0.0)).value, 1.0) << shift;
  }
}

TEST(TableSignals, EventsOfRepeatedRowsAreWhereTheRowsAre) {
  for (const double unit : {0.1, 0.3, 0.7, 1.1}) {
    for (const double shift : {0.0, 0.1, -1.7}) {
      const TableSignals table({unit, 2 * unit, 2 * unit, 3 * unit, 3 * unit, 4 * unit},
                               {{0.0, 0.0, 1.0, 1.0, 0.0, 0.0}}, Interpolation::linear,
                               Beyond::repeat, Beyond::repeat, shift);
      const double seam = unit + shift, period = table.last() - table.first();
      expect_pulses(table, seam - 50.5 * period, seam + 500.5 * period, 3 * 551);
      const TableSignals square({0.0, unit, unit, 2 * unit, 2 * unit}, {{1.0, 1.0, 0.0, 0.0, 1.0}},
                                Interpolation::linear, Beyond::repeat, Beyond::repeat, shift);
      expect_pulses(square, shift - 50.25 * 2 * unit, shift + 500.25 * 2 * unit, 2 * 550 + 1);
    }
  }
}

/// What the shift rounds makes no kinks.
TEST(TableSignals, ShiftedLinesHaveNoKinks) {
  std::vector<double> times, values;
  for (int i = 0; i < 100; ++i) {
    times.push_back(0.001 * i);
    values.push_back(0.002 * i);
  }
  const TableSignals table(times, {values}, Interpolation::linear, Beyond::linear, Beyond::linear,
                           1e6);
  EXPECT_TRUE(table.events(0.0, 2e6).empty());
}

/// A saw: each seam is a jump, which is read from its event on and not before, whatever rounding
/// makes of the phase.
TEST(TableSignals, SeamsThatJumpDoSoAtTheirEvents) {
  for (const double period : {1.0, 0.1, 0.3, 1.0 / 7.0}) {
    for (const double first : {0.0, 0.2, -17.3}) {
      for (const double shift : {0.0, 0.1, -1e3}) {
        const TableSignals saw({first, first + period}, {{0.0, 1.0}}, Interpolation::linear,
                               Beyond::repeat, Beyond::repeat, shift);
        const std::vector<double> seams = saw.events(-5.0, 5.0);
        EXPECT_NEAR(static_cast<double>(seams.size()), 10.0 / period, 1.0);
        for (const double t : seams) {
          EXPECT_LT(saw.at(0, t).value, 0.5) << t << " " << period << " " << first;
          const double before = std::nextafter(t, -10.0);
          EXPECT_GT(saw.at(0, before).value, 0.5) << t << " " << period << " " << first;
        }
      }
    }
  }
}

TEST(TableSignals, AJumpAtTheVeryEndIsAnEvent) {
  const TableSignals saw({0.0, 1.0}, {{0.0, 1.0}}, Interpolation::linear, Beyond::repeat,
                         Beyond::repeat);
  EXPECT_EQ(saw.events(0.0, 2.0), (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(saw.events(-1.0, 1.0), (std::vector<double>{0.0, 1.0}));
}

TEST(TableSignals, TheSameTimeTwiceIsAJump) {
  const TableSignals table({0.0, 1.0, 1.0, 2.0}, {{0.0, 1.0, 5.0, 5.0}}, Interpolation::linear,
                           Beyond::hold, Beyond::hold);
  EXPECT_DOUBLE_EQ(table.at(0, std::nextafter(1.0, 0.0)).value, std::nextafter(1.0, 0.0));
  EXPECT_DOUBLE_EQ(table.at(0, 1.0).value, 5.0);
  EXPECT_EQ(table.events(-1.0, 3.0), (std::vector<double>{0.0, 1.0}));
}

}  // namespace
}  // namespace concord

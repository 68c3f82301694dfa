#include "signal/sampled_signals.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace concord {
namespace sampled_signals_test {

/// A line with a jump at 2, which is there twice; stairs that rise at 1 and 3; a constant.
SampledSignals rows() {
  return {{0.0, 1.0, 2.0, 2.0, 3.0},
          {{"line", {0.0, 1.0, 2.0, -1.0, 0.0}},
           {"stairs", {0.0, 5.0, 5.0, 5.0, 6.0}, true},
           {"constant", {4.0, 4.0, 4.0, 4.0, 4.0}}}};
}

TEST(SampledSignals, JumpWhereRowsAreTwiceAndWhereStairsRise) {
  EXPECT_EQ(rows().jumps(), (std::vector<double>{1.0, 2.0, 3.0}));
  const SampledSignals line({0.0, 1.0, 2.0}, {{"line", {0.0, 1.0, 0.0}}});
  EXPECT_TRUE(line.jumps().empty());
  const SampledSignals same({0.0, 1.0, 1.0}, {{"line", {0.0, 1.0, 1.0}}});
  EXPECT_TRUE(same.jumps().empty());
}

TEST(SampledSignals, RowsThatFollow) {
  const SampledSignals signals = rows();
  EXPECT_EQ(signals.next_row(-1.0), 0.0);
  EXPECT_EQ(signals.next_row(0.0), 1.0);
  EXPECT_EQ(signals.next_row(1.9), 2.0);
  EXPECT_EQ(signals.next_row(2.0), 3.0);
  EXPECT_EQ(signals.next_row(3.0), std::numeric_limits<double>::infinity());
}

TEST(SampledSignals, LimitsAreThoseOfTheirSides) {
  const SampledSignals signals = rows();
  EXPECT_EQ(signals.from_left(0, 2.0).value, 2.0);
  EXPECT_EQ(signals.from_right(0, 2.0).value, -1.0);
  EXPECT_EQ(signals.from_left(1, 1.0).value, 0.0);
  EXPECT_EQ(signals.from_right(1, 1.0).value, 5.0);
  EXPECT_EQ(signals.from_right(0, 0.25).value, 0.25);
  EXPECT_EQ(signals.from_right(0, 0.25).derivative, 1.0);
  EXPECT_EQ(signals.from_right(0, 9.0).value, 0.0);
  EXPECT_EQ(signals.from_right(0, 9.0).derivative, 0.0);
}

}  // namespace sampled_signals_test
}  // namespace concord

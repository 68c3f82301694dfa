#include "signal/signal_ranges.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace signal_ranges_test {

TEST(SignalRanges, FromTheLeastToTheLargestValue) {
  SignalRanges ranges(2);
  ranges.see(0, 300.0);
  ranges.see(0, 299.0);
  ranges.see(0, 299.5);
  EXPECT_EQ(ranges.range(0, 299.5), 1.0);
  EXPECT_EQ(ranges.range(0, 301.0), 2.0);  // a trial, which is not kept
  EXPECT_EQ(ranges.range(0, 299.5), 1.0);
  EXPECT_EQ(ranges.range(1, 5.0), 0.0);  // nothing was seen
}

TEST(SignalRanges, AtLeastAHundredthOfTheSize) {
  SignalRanges ranges(1);
  ranges.see(0, 300.0);
  EXPECT_EQ(ranges.size(0, 300.0), 3.0);
  ranges.see(0, 310.0);
  EXPECT_EQ(ranges.size(0, 310.0), 10.0);
}

TEST(SignalRanges, GoThroughAnArchive) {
  SignalRanges before(1), after(1);
  before.see(0, -1.0);
  before.see(0, 2.0);
  Archive written;
  before.io(written, Per::output);
  Archive read(written.bytes());
  after.io(read, Per::output);
  EXPECT_EQ(after.range(0, 0.0), 3.0);
}

}  // namespace signal_ranges_test
}  // namespace concord

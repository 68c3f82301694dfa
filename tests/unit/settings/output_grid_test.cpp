#include "settings/output_grid.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace {

OutputGrid tenths() {
  OutputGrid grid = OutputGrid::every(0.1);
  grid.lay(0.0, 1.0);
  return grid;
}

TEST(OutputGrid, MacroStepsReachTheTimesWhereTheyEnd) {
  const OutputGrid grid = tenths();
  EXPECT_TRUE(grid.reaches(0.0, 0.1));
  EXPECT_TRUE(grid.reaches(0.05, 0.1));
  EXPECT_TRUE(grid.reaches(0.0, 0.3));
  EXPECT_FALSE(grid.reaches(0.0, 0.15));
}

TEST(OutputGrid, AreReachedOnceByMacroStepsOfRounding) {
  const OutputGrid grid = tenths();
  EXPECT_FALSE(grid.reaches(0.0, 2e-16));
  EXPECT_FALSE(grid.reaches(2e-16, 2.002e-16));
  EXPECT_TRUE(grid.reaches(2e-16, 0.1));
  EXPECT_TRUE(grid.reaches(0.1 - 5e-15, 0.1 - 1e-15));
  EXPECT_FALSE(grid.reaches(0.1 - 1e-15, 0.1 + 1e-15));
}

TEST(OutputGrid, IsNotReachedWithoutOne) { EXPECT_FALSE(OutputGrid().reaches(0.0, 0.1)); }

}  // namespace
}  // namespace concord

#include "signal/sizes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace concord {
namespace sizes_test {

/// A nominal value stays; others grow by what is known otherwise, and by numbers alone.
TEST(Sizes, AreRaisedByWhatIsLarger) {
  Sizes sizes({0.0, 3.0, 0.0, 0.0});
  sizes.see(std::vector<Sample>{{2.0, 0.0}, {9.0, 0.0}, {0.0, 5.0}, {1.0, 0.0}}, 0.1);
  EXPECT_TRUE(sizes.only_expected(2));
  sizes.raise(std::vector<Sample>{
      {1.0, 0.0}, {9.0, 0.0}, {4.0, 0.0}, {std::numeric_limits<double>::infinity(), 0.0}});
  const auto values = sizes.values();
  EXPECT_EQ((std::vector<double>(values.begin(), values.end())),
            (std::vector<double>{2.0, 3.0, 4.0, 1.0}));
  EXPECT_FALSE(sizes.only_expected(2));
}

}  // namespace sizes_test
}  // namespace concord

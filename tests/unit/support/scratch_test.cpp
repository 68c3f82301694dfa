#include "support/scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace concord {
namespace {

/// Fills numbers, and lets others do the same on top of them.
void nest(int depth, std::size_t count) {
  if (depth == 0) return;
  Scratch scratch;
  const std::span<double> own = scratch.numbers(count), more = scratch.numbers(3);
  ASSERT_EQ(own.size(), count);
  std::ranges::fill(own, depth);
  std::ranges::fill(more, -depth);
  nest(depth - 1, 2 * count);
  EXPECT_TRUE(std::ranges::all_of(own, [&](double value) { return value == depth; }));
  EXPECT_TRUE(std::ranges::all_of(more, [&](double value) { return value == -depth; }));
}

TEST(Scratch, KeepsNumbersOfOuterCalls) { nest(16, 1); }

TEST(Scratch, IsUsedAgain) {
  const auto place = [] { return Scratch().numbers(5).data(); };
  const double* const first = place();
  EXPECT_EQ(place(), first);
  const auto fail = [] {
    Scratch scratch;
    scratch.numbers(100'000);
    throw std::runtime_error("");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(place(), first);
}

}  // namespace
}  // namespace concord

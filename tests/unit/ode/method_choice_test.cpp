#include "subsystem/ode/method_choice.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace method_choice_test {

/// A macro-step of size 1 whose methods need `erk` and `other` evaluations of f, ten in a
/// micro-step. Returns the evaluations spent.
std::int64_t macro_step(MethodChoice& choice, std::int64_t& total, double erk, double other) {
  const std::int64_t before = total;
  choice.begin_macro_step(total);
  double reached = 0.0;
  while (reached < 1.0) {
    total += 10;
    reached += 10.0 / (choice.other() ? other : erk);
    choice.reconsider(total, reached);
  }
  choice.end_macro_step(total, 1.0);
  return total - before;
}

TEST(MethodChoice, KeepsErkWhereItIsCheap) {
  MethodChoice choice(true, false);
  std::int64_t total = 0;
  for (int k = 0; k < 100; ++k) EXPECT_EQ(macro_step(choice, total, 200, 20), 200);
  EXPECT_FALSE(choice.other());
}

TEST(MethodChoice, LeavesErkWhereTheOtherIsMuchCheaper) {
  MethodChoice choice(true, false);
  std::int64_t total = 0;
  EXPECT_LE(macro_step(choice, total, 10'000, 100), 400);
  EXPECT_TRUE(choice.other());
  EXPECT_LE(macro_step(choice, total, 10'000, 100), 110);
}

TEST(MethodChoice, TrialsInVainGetRare) {
  MethodChoice choice(true, false);
  std::int64_t total = 0;
  for (int k = 0; k < 1000; ++k) macro_step(choice, total, 1000, 500);
  EXPECT_FALSE(choice.other());
  EXPECT_LE(total, 1000 * 1010);
}

TEST(MethodChoice, ReturnsToErkWhenStiffnessIsOver) {
  MethodChoice choice(true, false);
  std::int64_t total = 0;
  macro_step(choice, total, 10'000, 100);
  for (int k = 0; k < 40; ++k) macro_step(choice, total, 50, 100);
  EXPECT_FALSE(choice.other());
}

TEST(MethodChoice, StaysWhereNothingIsAutomatic) {
  for (const bool other : {false, true}) {
    MethodChoice choice(false, other);
    std::int64_t total = 0;
    for (int k = 0; k < 10; ++k) macro_step(choice, total, 10'000, 10'000);
    EXPECT_EQ(choice.other(), other);
    EXPECT_FALSE(choice.give_up(total, 0.5));
  }
}

TEST(MethodChoice, GivesUpOncePerPoint) {
  MethodChoice choice(true, false);
  choice.begin_macro_step(0);
  EXPECT_TRUE(choice.give_up(10, 0.5));
  EXPECT_TRUE(choice.other());
  EXPECT_FALSE(choice.give_up(20, 0.5));
}

}  // namespace method_choice_test
}  // namespace concord

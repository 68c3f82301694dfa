#include "subsystem/ode/order_choice.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace order_choice_test {

constexpr std::array<OneStepPair::Order, 2> orders{{{6, 4}, {13, 7}}};
constexpr double rtol = 1e-8, longer = 3.98, h = 0.1;

/// One macro-step more.
double conclude(OrderChoice& choice, std::size_t micro_steps, double proposal) {
  return choice.conclude(orders, rtol, h, micro_steps, proposal);
}

TEST(OrderChoice, StaysLowWhereFewMicroStepsAreEnough) {
  OrderChoice choice;
  EXPECT_EQ(conclude(choice, 1, 5 * h), 1.0);
  EXPECT_EQ(conclude(choice, 2, h / 2), 1.0);
  EXPECT_EQ(conclude(choice, 5, h / 5), 1.0);  // 2 of high order cost 26
  EXPECT_FALSE(choice.high());
}

TEST(OrderChoice, GoesHighAndBackByCosts) {
  OrderChoice choice;
  EXPECT_NEAR(conclude(choice, 3, h / 3), longer, 0.01);
  EXPECT_TRUE(choice.high());
  EXPECT_EQ(conclude(choice, 1, h), 1.0);
  EXPECT_EQ(conclude(choice, 1, 3 * h), 1.0);  // 2 of low order cost 12
  EXPECT_NEAR(conclude(choice, 1, 5 * h), 1 / longer, 0.01);
  EXPECT_FALSE(choice.high());
}

/// As of a quadrature, whose error of high order is none.
TEST(OrderChoice, WhatWasInVainIsNotTriedAgainSoon) {
  OrderChoice choice;
  conclude(choice, 4, h / 3.5);
  conclude(choice, 1, 20 * h);
  for (const int rest : {16, 32, 64}) {
    EXPECT_FALSE(choice.high());
    EXPECT_GT(conclude(choice, 4, h / 3.5), 1.0);
    ASSERT_TRUE(choice.high());
    for (int n = 0; n < rest; ++n) {
      conclude(choice, 1, 20 * h);
      EXPECT_TRUE(choice.high()) << n << " of " << rest;
    }
    EXPECT_LT(conclude(choice, 1, 20 * h), 1.0);
  }
}

/// Where stability limits both.
TEST(OrderChoice, HighOrderMustPay) {
  OrderChoice choice;
  conclude(choice, 30, h / 30);
  ASSERT_TRUE(choice.high());
  EXPECT_LT(conclude(choice, 19, h / 19), 1.0);
  for (int n = 0; n < 16; ++n) {
    EXPECT_EQ(conclude(choice, 30, h / 30), 1.0);
    EXPECT_FALSE(choice.high());
  }
  EXPECT_GT(conclude(choice, 30, h / 30), 1.0);
}

}  // namespace order_choice_test
}  // namespace concord

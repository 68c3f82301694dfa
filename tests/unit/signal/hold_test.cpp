#include "signal/hold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace concord {
namespace hold_test {

constexpr Sample begin{1.5, -2.0};
constexpr Sample end{0.25, 3.0};
constexpr double h = 0.125;

TEST(Hold, ZohIsTheEndValue) {
  const Polynomial p = from_guess(Hold::zoh, begin, end, h, true);
  EXPECT_EQ(p(0.0), end.value);
  EXPECT_EQ(p(h), end.value);
  EXPECT_EQ(p.derivative(h), 0.0);
}

TEST(Hold, FohJoinsTheValues) {
  const Polynomial p = from_guess(Hold::foh, begin, end, h, true);
  EXPECT_EQ(p(0.0), begin.value);
  EXPECT_DOUBLE_EQ(p(h), end.value);
  EXPECT_DOUBLE_EQ(p.derivative(0.3 * h), (end.value - begin.value) / h);
}

TEST(Hold, SohKeepsTheSlopeAtTheBeginning) {
  const Polynomial p = from_guess(Hold::soh, begin, end, h, true);
  EXPECT_EQ(p.at(0.0).value, begin.value);
  EXPECT_EQ(p.at(0.0).derivative, begin.derivative);
  EXPECT_DOUBLE_EQ(p(h), end.value);
  EXPECT_EQ(p.c[3], 0.0);
}

TEST(Hold, SohWithoutSlopeIsFoh) {
  const Polynomial p = from_guess(Hold::soh, begin, end, h, false);
  EXPECT_EQ(p.c, from_guess(Hold::foh, begin, end, h, false).c);
}

TEST(Hold, HermiteKeepsValuesAndSlopes) {
  const Polynomial p = from_guess(Hold::hermite, begin, end, h, true);
  EXPECT_EQ(p.at(0.0).value, begin.value);
  EXPECT_EQ(p.at(0.0).derivative, begin.derivative);
  EXPECT_DOUBLE_EQ(p.at(h).value, end.value);
  EXPECT_NEAR(p.at(h).derivative, end.derivative, 1e-13);
}

TEST(Hold, HermiteWithoutSlopeKeepsThreeConstraints) {
  const Polynomial p = from_guess(Hold::hermite, begin, end, h, false);
  EXPECT_EQ(p(0.0), begin.value);
  EXPECT_DOUBLE_EQ(p(h), end.value);
  EXPECT_NEAR(p.derivative(h), end.derivative, 1e-13);
  EXPECT_EQ(p.c[3], 0.0);
}

TEST(Hold, QuinticKeepsValuesSlopesAndCurvatures) {
  constexpr Sample from{1.5, -2.0, 7.0}, to{0.25, 3.0, -11.0};
  const Polynomial p = from_guess(Hold::quintic, from, to, h, true);
  EXPECT_EQ(p.at(0.0).value, from.value);
  EXPECT_EQ(p.at(0.0).derivative, from.derivative);
  EXPECT_EQ(p.at(0.0).curvature, from.curvature);
  EXPECT_NEAR(p.at(h).value, to.value, 1e-14);
  EXPECT_NEAR(p.at(h).derivative, to.derivative, 1e-12);
  EXPECT_NEAR(p.at(h).curvature, to.curvature, 1e-10);
}

TEST(Hold, QuinticWithoutSlopeKeepsFourConstraints) {
  constexpr Sample from{1.5, -2.0, 7.0}, to{0.25, 3.0, -11.0};
  const Polynomial p = from_guess(Hold::quintic, from, to, h, false);
  EXPECT_EQ(p(0.0), from.value);
  EXPECT_NEAR(p.at(h).value, to.value, 1e-14);
  EXPECT_NEAR(p.at(h).derivative, to.derivative, 1e-12);
  EXPECT_NEAR(p.at(h).curvature, to.curvature, 1e-10);
  EXPECT_EQ(p.c[4], 0.0);
  EXPECT_EQ(p.c[5], 0.0);
}

TEST(Hold, QuinticFromTheEndAloneIsAParabola) {
  constexpr Sample to{0.25, 3.0, -11.0};
  const Polynomial p = from_end(Hold::quintic, to, h);
  EXPECT_NEAR(p.at(h).value, to.value, 1e-14);
  EXPECT_NEAR(p.at(h).derivative, to.derivative, 1e-13);
  EXPECT_NEAR(p.at(h).curvature, to.curvature, 1e-12);
  EXPECT_EQ(p.c[3], 0.0);
}

TEST(Polynomial, IsTheSameFromElsewhere) {
  const Polynomial p{{0.3, -1.0, 0.5, 2.0, -0.7, 0.4}};
  const Polynomial moved = p.moved_to(0.8);
  for (const double tau : {-0.5, 0.0, 0.3, 1.2}) {
    EXPECT_NEAR(moved(tau), p(tau + 0.8), 1e-13);
    EXPECT_NEAR(moved.derivative(tau), p.derivative(tau + 0.8), 1e-12);
    EXPECT_NEAR(moved.curvature(tau), p.curvature(tau + 0.8), 1e-12);
  }
}

/// Largest distance from the sine over a macro-step of size `size` from t = 1.
double distance_from_sine(Hold hold, double size, bool slope_known) {
  const Sample from{std::sin(1.0), std::cos(1.0), -std::sin(1.0)};
  const Sample to{std::sin(1.0 + size), std::cos(1.0 + size), -std::sin(1.0 + size)};
  const Polynomial p = from_guess(hold, from, to, size, slope_known);
  double largest = 0.0;
  for (int i = 0; i <= 100; ++i) {
    const double tau = size * i / 100.0;
    largest = std::max(largest, std::abs(p(tau) - std::sin(1.0 + tau)));
  }
  return largest;
}

struct Order {
  Hold hold;
  bool slope_known;
  double order;
};

class HoldOrder : public testing::TestWithParam<Order> {};

TEST_P(HoldOrder, ObservedOnTheSine) {
  const auto [hold, slope_known, order] = GetParam();
  const double coarse = distance_from_sine(hold, 0.08, slope_known);
  const double fine = distance_from_sine(hold, 0.04, slope_known);
  EXPECT_NEAR(std::log2(coarse / fine), order, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, HoldOrder,
                         testing::Values(Order{Hold::zoh, true, 1}, Order{Hold::foh, true, 2},
                                         Order{Hold::soh, true, 3}, Order{Hold::soh, false, 2},
                                         Order{Hold::hermite, true, 4},
                                         Order{Hold::hermite, false, 3},
                                         Order{Hold::quintic, true, 6},
                                         Order{Hold::quintic, false, 4}));

TEST(Hold, NothingIsLostFarFromTimeZero) {
  // Coefficients are in powers of tau: a huge value with a tiny change keeps the change.
  const Polynomial p = from_guess(Hold::hermite, {1e6, 1.0}, {1e6 + 1e-6, 1.0}, 1e-6, true);
  EXPECT_NEAR(p.derivative(5e-7), 1.0, 1e-3);
}

TEST(AllHolds, HaveEachWordOnce) {
  std::set<std::string_view> words;
  for (const Hold& hold : all_holds()) {
    EXPECT_TRUE(words.insert(hold.word).second) << hold.word;
    EXPECT_TRUE(hold.from_past || hold.takes_guess()) << hold.word;
  }
  for (const auto& [word_of_it, hold] : words_of<Hold>()) {
    EXPECT_EQ(word(hold), word_of_it);
  }
}

/// What the table says of a hold is what its polynomials do.
TEST(AllHolds, AreAsTheTableSays) {
  for (const Hold& hold : all_holds()) {
    if (!hold.takes_guess()) {
      continue;
    }
    for (const bool known : {true, false}) {
      const Polynomial p = from_guess(hold, begin, end, h, known);
      EXPECT_DOUBLE_EQ(p(h), end.value) << hold.word;
      EXPECT_EQ(p(0.0), hold.is_constant() ? end.value : begin.value) << hold.word;
      if (hold.ends_with_slope()) {
        EXPECT_NEAR(p.derivative(h), end.derivative, 1e-13) << hold.word;
      }
      if (known) {
        EXPECT_EQ(p.derivative(0.0) == begin.derivative, hold.joins_smoothly) << hold.word;
      }
    }
    const Polynomial alone = from_end(hold, end, h);
    EXPECT_DOUBLE_EQ(alone(h), end.value) << hold.word;
    EXPECT_EQ(alone.derivative(h) == end.derivative, hold.ends_with_slope()) << hold.word;
  }
}

TEST(AllHolds, OfThePastHaveAUsualOrderThatTheyTake) {
  for (const Hold& hold : all_holds()) {
    EXPECT_LE(hold.usual_order(), hold.highest_order) << hold.word;
  }
}

}  // namespace hold_test
}  // namespace concord

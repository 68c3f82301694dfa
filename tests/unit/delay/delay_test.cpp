#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "signal/hold.hpp"
#include "subsystem/delay/delay_subsystem.hpp"
#include "subsystem/delay/signal_past.hpp"

namespace concord {
namespace {

constexpr double rounding = 1e-14, never = -10.0;

Polynomial cubic(double begin, double h) {
  const auto sample = [](double t) { return Sample{std::sin(t), std::cos(t)}; };
  return Hold::hermite.of_guess(sample(begin), sample(begin + h), h, true);
}

std::unique_ptr<Subsystem> delay_of(double seconds) {
  DelayDescription description;
  description.name = "late";
  description.delay = seconds;
  auto delay = make_delay(description);
  delay->start({0.0, 0.1}, 10.0);
  delay->enter({});
  const Sample start{0.0, 1.0};
  delay->end_initialization({&start, 1});
  return delay;
}

/// One macro-step with the sine as input.
Sample advance(Subsystem& delay, double begin, double h) {
  const Polynomial input = cubic(begin, h);
  Sample output;
  EXPECT_EQ(delay.advance({begin, begin + h, h}, {&input, 1}, InputContinuity::smooth,
                          Wanted::values_and_derivatives, {&output, 1}),
            Outcome::ok);
  return output;
}

}  // namespace

TEST(SignalPast, HoldsWhatItWas) {
  SignalPast past;
  past.start(0.0);
  for (int i = 0; i < 50; ++i) past.append(0.1 * i, 0.1, cubic(0.1 * i, 0.1), i == 0);
  EXPECT_EQ(past.at(-0.3, never, rounding).value, 0.0);
  EXPECT_EQ(past.at(-0.3, never, rounding).derivative, 0.0);
  for (const double t : {0.05, 0.1, 1.234, 4.9999, 5.0}) {
    EXPECT_NEAR(past.at(t, never, rounding).value, std::sin(t), 3e-7);
    EXPECT_NEAR(past.at(t, never, rounding).derivative, std::cos(t), 1e-5);
  }
}

TEST(SignalPast, ForgetsWhatIsTooOld) {
  SignalPast past;
  past.start(0.0);
  for (int i = 0; i < 10000; ++i) {
    past.forget(0.1 * i - 1.0);
    past.append(0.1 * i, 0.1, cubic(0.1 * i, 0.1), false);
    ASSERT_LE(past.pieces(), 13u);
  }
  EXPECT_NEAR(past.at(999.0, never, rounding).value, std::sin(999.0), 3e-7);
}

/// Jumps of value, slope and curvature where something happens, and nowhere else.
TEST(SignalPast, BreaksWhereItDoesNotContinue) {
  for (int derivative = 0; derivative < 3; ++derivative) {
    SignalPast past;
    past.start(0.0);
    for (int i = 0; i < 10; ++i) {
      Polynomial piece = cubic(0.1 * i, 0.1);
      if (i == 6) piece.c[static_cast<std::size_t>(derivative)] += 0.5;
      past.append(0.1 * i, 0.1, piece, i == 0 || i == 3 || i == 6);
    }
    EXPECT_EQ(past.next_break(-1.0), 0.0);  // the slope of the sine begins
    EXPECT_EQ(past.next_break(0.0), 0.1 * 6) << derivative;
    EXPECT_FALSE(past.next_break(0.1 * 6));
    const double left = past.at(0.1 * 6, never, rounding).value;
    const double right = past.at(0.1 * 6, 0.1 * 6, rounding).value;
    EXPECT_NEAR(right - left, derivative == 0 ? 0.5 : 0.0, 1e-12);
  }
}

/// However short the macro-steps around a kink are, those that pass over it once it arrives are
/// not.
TEST(SignalPast, KinksBesideShortMacroStepsAreBreaks) {
  for (const double before : {0.1, 1e-4, 1e-8})
    for (const double behind : {0.1, 1e-4, 1e-8}) {
      SignalPast past;
      past.start(0.0);
      double t = 0.0;
      const auto append = [&](double h, double slope, bool fresh) {
        past.append(t, h, {{1.0, slope, 0.0, 0.0}}, fresh);
        t += h;
      };
      for (int i = 0; i < 10; ++i) append(0.1, 0.0, i == 0);
      append(before, 0.0, true);
      const double kink = t;
      append(behind, 0.02, true);
      EXPECT_EQ(past.next_break(0.5), kink) << before << ' ' << behind;
      EXPECT_EQ(past.next_break(kink), std::nullopt);
    }
}

/// What step control has made of a jump that nobody tells of is one again where an event ends it;
/// what is as short and no steeper than the signal, or steep over some time, stays what it is.
TEST(SignalPast, RampsOfJumpsAreBreaks) {
  const auto past_of = [](double h, double change) {
    SignalPast past;
    past.start(1.0);
    for (int i = 0; i < 10; ++i) past.append(0.1 * i, 0.1, {{1.0, 0.0, 0.0, 0.0}}, i == 0);
    past.append(1.0, h, {{1.0, change / h, 0.0, 0.0}}, false);
    past.end_by_event();
    past.append(1.0 + h, 0.1, {{1.0 + change, 0.0, 0.0, 0.0}}, true);
    return past;
  };
  const double h = 1e-8;
  SignalPast jump = past_of(h, 0.3);
  EXPECT_EQ(jump.next_break(0.5), 1.0 + h);
  EXPECT_EQ(jump.at(1.0 + 0.5 * h, never, 1e-16).value, 1.0);
  EXPECT_EQ(jump.at(1.0 + h, 1.0 + h, 1e-16).value, 1.3);
  EXPECT_NEAR(past_of(h, 0.3 * h).at(1.0 + 0.5 * h, never, 1e-16).value, 1.0 + 0.15 * h, 1e-16);
  EXPECT_NEAR(past_of(0.01, 0.3).at(1.005, never, 1e-16).value, 1.15, 1e-12);
}

/// What a hold makes jump between its pieces is no break.
TEST(SignalPast, StairsOfAHoldAreNoBreaks) {
  SignalPast past;
  past.start(0.0);
  for (int i = 0; i < 20; ++i)
    past.append(0.1 * i, 0.1, {{std::sin(0.1 * i), 0.0, 0.0, 0.0}}, i % 5 == 0);
  EXPECT_FALSE(past.next_break(-1.0));
  past.append(2.0, 0.1, {{5.0, 0.0, 0.0, 0.0}}, true);
  EXPECT_EQ(past.next_break(-1.0), 2.0);
}

TEST(Elapsed, LosesNothing) {
  Elapsed point;
  for (int i = 0; i < 10000000; ++i) point = point.after(0.1);
  EXPECT_NEAR(point.sum, 1e6, 1e-9);
}

TEST(Delay, PutsOutWhatItWasGiven) {
  for (const double seconds : {0.3, 0.04, 0.1}) {
    const auto delay = delay_of(seconds);
    for (int i = 0; i < 20; ++i) {
      const Sample y = advance(*delay, 0.1 * i, 0.1);
      const double then = 0.1 * (i + 1) - seconds;
      EXPECT_NEAR(y.value, then > 0.0 ? std::sin(then) : 0.0, 1e-6) << seconds << " " << i;
      if (std::abs(then) > 1e-12) {
        EXPECT_NEAR(y.derivative, then > 0.0 ? std::cos(then) : 0.0, 1e-4);
      }
    }
  }
}

TEST(Delay, StartsWithItsInput) {
  DelayDescription description;
  description.delay = 1.0;
  const auto delay = make_delay(description);
  delay->start({0.0, 0.1}, 1.0);
  EXPECT_TRUE(delay->initializing());
  const Sample input{3.0, 2.0};
  Sample output;
  delay->point_outputs({&input, 1}, Wanted::values, {&output, 1});
  EXPECT_EQ(output.value, 3.0);
  delay->end_initialization({&input, 1});
  EXPECT_FALSE(delay->initializing());
  const Sample later{5.0, 2.0};
  delay->point_outputs({&later, 1}, Wanted::values, {&output, 1});
  EXPECT_EQ(output.value, 3.0);
  EXPECT_EQ(output.derivative, 0.0);
}

TEST(Delay, ReturnsToWhereItWas) {
  const auto delay = delay_of(0.25);
  for (int i = 0; i < 10; ++i) advance(*delay, 0.1 * i, 0.1);
  delay->save();
  const Sample first = advance(*delay, 1.0, 0.1), second = advance(*delay, 1.1, 0.1);
  delay->restore();
  advance(*delay, 1.0, 0.2);
  delay->restore();
  const Sample again = advance(*delay, 1.0, 0.1), last = advance(*delay, 1.1, 0.1);
  EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
  EXPECT_EQ(std::memcmp(&second, &last, sizeof second), 0);
}

TEST(Delay, IsArchived) {
  const auto delay = delay_of(0.25), other = delay_of(0.25);
  for (int i = 0; i < 10; ++i) advance(*delay, 0.1 * i, 0.1);
  Archive written;
  ASSERT_TRUE(delay->io(written));
  Archive read(written.bytes());
  ASSERT_TRUE(other->io(read));
  EXPECT_TRUE(read.at_end());
  const Sample a = advance(*delay, 1.0, 0.1), b = advance(*other, 1.0, 0.1);
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

/// Where a prediction leads is where the macro-step ends.
TEST(Delay, PredictsItself) {
  for (const double seconds : {0.25, 0.03}) {
    const auto delay = delay_of(seconds);
    for (int i = 0; i < 10; ++i) advance(*delay, 0.1 * i, 0.1);
    const Sample begin{std::sin(1.0), std::cos(1.0)}, end{std::sin(1.1), std::cos(1.1)};
    Linearization known;
    ASSERT_EQ(delay->linearize({&begin, 1}, known), Outcome::ok);
    EXPECT_EQ(known.g_u, std::vector<double>{0.0});
    ASSERT_EQ(known.g.size(), 1u);
    EXPECT_NEAR(known.g[0], std::sin(1.0 - seconds), 1e-6);
    EXPECT_NEAR(known.g_t[0], std::cos(1.0 - seconds), 1e-4);
    EXPECT_EQ(known.g_late, std::vector<double>{1.0});
    EXPECT_EQ(known.late, seconds);
    double curvature = 0.0;
    ASSERT_EQ(delay->output_curvatures({&begin, 1}, {&curvature, 1}), Outcome::ok);
    EXPECT_NEAR(curvature, -std::sin(1.0 - seconds), 1e-2);
    Sample predicted;
    ASSERT_EQ(delay->outputs_at({1.1, 0.1, {}, {&end, 1}}, {&predicted, 1}), Outcome::ok);
    const Sample y = advance(*delay, 1.0, 0.1);
    EXPECT_NEAR(predicted.value, y.value, 1e-14);
    EXPECT_NEAR(predicted.derivative, y.derivative, 1e-13);
  }
}

}  // namespace concord

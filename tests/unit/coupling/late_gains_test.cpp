#include <gtest/gtest.h>

#include <cmath>

#include "coupling/estimation/estimator.hpp"
#include "signal/hold.hpp"
#include "subsystem/delay/delay_subsystem.hpp"

namespace concord::test {
namespace late_gains_test {

constexpr double h = 0.1;
constexpr Sample begin{0.4, -1.0};

/// A delay after four macro-steps.
std::unique_ptr<Subsystem> delay_of(double seconds) {
  DelayDescription description;
  description.delay = seconds;
  auto delay = make_delay(description);
  delay->start({0.0, h}, 1.0);
  const Sample start{1.0, 0.0};
  delay->end_initialization({&start, 1});
  for (int i = 0; i < 4; ++i) {
    const Polynomial input{{1.0 - i * 0.15, 0.2, -3.0, 1.0 + i}};
    Sample output;
    delay->advance({i * h, (i + 1) * h, h}, {&input, 1}, InputContinuity::smooth, Wanted::values,
                   {&output, 1});
  }
  return delay;
}

Sample real(Subsystem& delay, const Sample& end, bool slopes_known) {
  const Polynomial input = from_guess(Hold::hermite, begin, end, h, slopes_known);
  Sample output;
  delay.save();
  delay.advance({4 * h, 5 * h, h}, {&input, 1}, InputContinuity::smooth,
                Wanted::values_and_derivatives, {&output, 1});
  delay.restore();
  return output;
}

/// K of a delay within the macro-step is how its output answers to its input's end.
TEST(LateGains, AreTheResponseToTheEnd) {
  for (const double seconds : {0.02, 0.07, 0.099, 0.12, 0.3}) {
    for (const bool slopes_known : {true, false}) {
      const auto delay = delay_of(seconds);
      Estimator estimator(*delay, {0}, {}, {}, 2);
      Outcome outcome = Outcome::failed;
      const Sample now{0.0, 0.0};
      EndGains::Pool pool;
      estimator.prepare({4 * h, 5 * h, h}, {&begin, 1}, {&now, 1}, slopes_known, pool, outcome);
      ASSERT_EQ(outcome, Outcome::ok);
      const Sample end{0.3, 2.0}, base = real(*delay, end, slopes_known);
      for (int part = 0; part < 2; ++part) {
        Sample moved = end;
        (part == 0 ? moved.value : moved.derivative) += 1.0;
        const Sample answer = real(*delay, moved, slopes_known);
        EXPECT_NEAR(answer.value - base.value, estimator.gain(0, 0, 0, part), 1e-12) << seconds;
        EXPECT_NEAR(answer.derivative - base.derivative, estimator.gain(0, 1, 0, part), 1e-11)
            << seconds;
      }
    }
  }
}

}  // namespace late_gains_test
}  // namespace concord::test

#include "coupling/collocation/node_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace node_choice_test {

int order(NodeFamily family, int count) {
  return family == NodeFamily::gauss ? 2 * count : 2 * count - 1;
}

/// A solution whose derivatives grow by 1/scale each, under a step control: k nodes leave
/// (h/scale)^{order+1} at the end of a macro-step.
class Smooth {
 public:
  Smooth(NodeFamily family, double tolerance, double scale, double longest)
      : family_(family),
        tolerance_(tolerance),
        scale_(scale),
        longest_(longest),
        choice_(family, 4) {}

  /// What so many nodes allow, in right-hand sides per second.
  double pace(int count) const {
    const double exponent = order(family_, count) + 1;
    const double h = std::min(scale_ * std::pow(tolerance_, 1.0 / exponent), longest_);
    return (sweeps + 1) * count / h;
  }
  int best() const {
    int result = 4;
    for (int k = 5; k <= 6; ++k) result = pace(k) < pace(result) ? k : result;
    return result;
  }

  void step() {
    const int p = order(family_, choice_.count());
    StepJudgement judgement;
    judgement.error = std::pow(h_ / scale_, p + 1) / tolerance_;
    judgement.longest = longest_;
    choice_.learn({h_, judgement.error, judgement.error, h_ / scale_, sweeps}, judgement);
    const double factor = 0.7 * std::pow(judgement.error, -1.0 / (p + 1));
    h_ = std::min(h_ * std::min(factor, 2.0), longest_);
  }
  int count_after(int steps) {
    for (int i = 0; i < steps; ++i) step();
    return choice_.count();
  }
  void becomes(double scale) { scale_ = scale; }

 private:
  static constexpr int sweeps = 2;
  NodeFamily family_;
  double tolerance_, scale_, longest_;
  double h_ = 1e-3;
  NodeChoice choice_;
};

constexpr double any = std::numeric_limits<double>::infinity();

TEST(NodeChoice, ComesToTheLeastWork) {
  for (const NodeFamily family : {NodeFamily::gauss, NodeFamily::radau}) {
    for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
      Smooth run(family, tolerance, 1.0, any);
      const int found = run.count_after(100);
      EXPECT_LE(run.pace(found), 1.15 * run.pace(run.best())) << tolerance << ", " << found;
    }
  }
}

TEST(NodeChoice, TakesNoMoreWhereMacroStepsAreBounded) {
  Smooth run(NodeFamily::radau, 1e-8, 1.0, 1e-3);
  EXPECT_EQ(run.count_after(50), 4);
}

TEST(NodeChoice, GoesWithTheSolution) {
  Smooth run(NodeFamily::gauss, 1e-9, 1.0, 0.02);
  EXPECT_EQ(run.count_after(100), 4);
  run.becomes(0.02);
  EXPECT_GE(run.count_after(200), 5);
  run.becomes(1.0);
  EXPECT_EQ(run.count_after(300), 4);
}

TEST(NodeChoice, LeavesWhatTheRunMayGrowBy) {
  const auto count_with = [](double free) {
    NodeChoice choice(NodeFamily::radau, 6);
    StepJudgement judgement{1e-7, 2.0, 0.0, free, 1e3, 0.1};
    double run = 0.0;
    for (int i = 0; i < 40; ++i) {
      judgement.error = 1e-7 * std::pow(0.1, -2.0 * (choice.count() - 6));
      judgement.run = run += judgement.error;
      choice.learn({0.1, judgement.error, judgement.error, 0.1, 2}, judgement);
    }
    return choice.count();
  };
  EXPECT_EQ(count_with(1e6), 4);
  EXPECT_EQ(count_with(1e-2), 6);
}

}  // namespace node_choice_test
}  // namespace concord

#include "coupling/points/algebraic_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "unit/ode/models.hpp"

namespace concord::test {
namespace algebraic_loop_test {

/// Two subsystems without states that feed each other: u_a = g_b(u_b), u_b = g_a(u_a).
class Pair : public ::testing::Test {
 protected:
  using Function = std::function<double(double t, double u)>;

  /// g, and its derivative where the model gives one.
  struct Part {
    Function g;
    std::optional<double> d = {};
    bool has_start = true;
  };

  static std::unique_ptr<LambdaModel> model_of(const Part& part) {
    auto model = std::make_unique<LambdaModel>(
        std::vector<double>{}, 1, 1, [](double, Span, Span, Out) {},
        [g = part.g](double t, Span, Span u, Out y) { y[0] = g(t, u[0]); });
    if (part.d) {
      model->exact = [d = *part.d](double, Span, Span, const Jacobians& j) { j.g_u[0] = d; };
    }
    return model;
  }

  static SubsystemDescription describe(const std::string& name, const Part& part) {
    SubsystemDescription description = describe_ode(name, "native", model_of(part)->interface());
    if (!part.has_start) {
      description.inputs[0].start.reset();
    }
    return description;
  }

  void make(const Part& a, const Part& b) {
    for (const auto& [name, part] : {std::pair("a", a), std::pair("b", b)}) {
      SubsystemEntry& entry = model_.subsystems.emplace_back();
      entry.description = describe(name, part);
      entry.type.own().create = [part = part, name = name](const SubsystemEntry&,
                                                           const SubsystemSettings& settings) {
        return make_ode_subsystem(describe(name, part), model_of(part), settings);
      };
    }
    model_.connections = {{"a.y0", "b.u0", ""}, {"b.y0", "a.u0", ""}};
    network_ = std::make_unique<Network>(model_);
    partition_ = std::make_unique<Partition>(Partition::on_one_rank(*network_));
    subsystems_ = std::make_unique<RankNetwork>(PETSC_COMM_SELF, model_, *network_, *partition_,
                                                SettingsList(2));
    subsystems_->start({0.0, 1e-2}, 1.0);
    const auto& components = network_->components();
    const auto found = std::find_if(components.begin(), components.end(),
                                    [](const auto& component) { return component.loop; });
    ASSERT_NE(found, components.end());
    loop_ = std::make_unique<AlgebraicLoop>(*subsystems_, *found);
    point_ = std::make_unique<CommunicationPointEvaluation>(*subsystems_);
  }

  bool solve() { return loop_->solve_values(*point_, inputs_, outputs_); }

  Model model_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Partition> partition_;
  std::unique_ptr<RankNetwork> subsystems_;
  std::unique_ptr<AlgebraicLoop> loop_;
  std::unique_ptr<CommunicationPointEvaluation> point_;
  std::vector<Sample> inputs_ = std::vector<Sample>(2), outputs_ = std::vector<Sample>(2);
};

/// u_b = 1 + u_a/2, u_a = u_b^2/8: u_b^2/16 - u_b + 1 = 0.
TEST_F(Pair, ValuesSolveTheQuadraticToRounding) {
  make({[](double, double u) { return 1.0 + 0.5 * u; }},
       {[](double, double u) { return 0.125 * u * u; }});
  ASSERT_TRUE(solve()) << loop_->failure();
  const double exact = 8.0 - std::sqrt(48.0);
  EXPECT_NEAR(inputs_[1].value, exact, 8e-16 * exact);
  EXPECT_NEAR(inputs_[0].value, 0.125 * exact * exact, 8e-16);
  EXPECT_EQ(outputs_[0].value, inputs_[1].value);
}

/// u_a = t^2 - u_b, u_b = sin(t) + u_a/2, at t = 0: u_a' = -2/3, u_b' = 2/3.
TEST_F(Pair, SlopesSolveTheLinearEquations) {
  make({[](double t, double u) { return std::sin(t) + 0.5 * u; }},
       {[](double t, double u) { return t * t - u; }});
  ASSERT_TRUE(solve()) << loop_->failure();
  ASSERT_TRUE(loop_->solve_derivatives(*point_, Wanted::values_and_derivatives, inputs_, outputs_))
      << loop_->failure();
  EXPECT_NEAR(inputs_[0].derivative, -2.0 / 3.0, 1e-9);
  EXPECT_NEAR(inputs_[1].derivative, 2.0 / 3.0, 1e-9);
}

TEST_F(Pair, OneThatIsSingularIsTold) {
  make({[](double, double u) { return u + 1.0; }, 1.0}, {[](double, double u) { return u; }, 1.0});
  EXPECT_FALSE(solve());
  EXPECT_NE(loop_->failure().find("is singular at t = 0 s"), std::string::npos) << loop_->failure();
}

/// u^3 = 8: its Jacobian is singular at 0, not beside.
TEST_F(Pair, OneThatIsSingularAtTheGuessOnlyIsSolvedFromElsewhere) {
  make({[](double, double u) { return u; }},
       {[](double, double u) { return u - u * u * u + 8.0; }});
  ASSERT_TRUE(solve()) << loop_->failure();
  EXPECT_NEAR(inputs_[0].value, 2.0, 1e-14);
}

/// u = u + (u - 1)(u - 9): from 0 Newton's method comes to 1; what feeds an input there is 9.
TEST_F(Pair, InputsWithoutStartValuesBeginWithWhatFeedsThem) {
  for (const bool has_start : {true, false}) {
    model_ = {};
    make({[](double, double u) { return u; }, {}, has_start},
         {[](double, double u) { return u + (u - 1.0) * (u - 9.0); }, {}, has_start});
    inputs_ = outputs_ = std::vector<Sample>(2);
    ASSERT_TRUE(solve()) << loop_->failure();
    EXPECT_NEAR(inputs_[0].value, has_start ? 1.0 : 9.0, 1e-13);
    EXPECT_NEAR(inputs_[1].value, inputs_[0].value, 1e-13);
  }
}

TEST_F(Pair, WhereThereIsNoSolutionTheFirstGuessIsNamed) {
  make({[](double, double u) { return u; }}, {[](double, double u) { return u * u + u + 1.0; }});
  inputs_[0].value = 0.5;
  EXPECT_FALSE(solve());
  EXPECT_NE(loop_->failure().find("has no solution that Newton's method finds at t = 0 s"),
            std::string::npos)
      << loop_->failure();
  EXPECT_NE(loop_->failure().find("give start values"), std::string::npos);
}

}  // namespace algebraic_loop_test
}  // namespace concord::test

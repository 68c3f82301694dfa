#include "subsystem/advance_batches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "subsystem/equations/equations_model.hpp"
#include "subsystem/ode_subsystem.hpp"

namespace concord {
namespace {

/// A mass with a stop, stiff where c is large.
EquationsDescription mass(double c, double start) {
  return {.subsystem = "mass",
          .location = "",
          .parameters = {{"m", 2.5, ""}, {"c", c, ""}},
          .inputs = {{"f", 1.0, ""}, {"g", 0.5, ""}},
          .states = {{"x", start, ""}, {"v", 0.5, ""}},
          .derivatives = {{"x", "v", ""}, {"v", "(f - g - c*x - d*v)/m + sin(t)", ""}},
          .outputs = {{"x", "x", ""}, {"power", "f*v", ""}},
          .discrete = {{"d", 0.3, ""}},
          .whens = {{"x < -9", std::nullopt, 0.0, false, {{"d", "2*d", ""}}, ""}},
          .units = {}};
}

struct Masses {
  explicit Masses(std::span<const double> c, IntegratorKind kind = IntegratorKind::automatic) {
    for (std::size_t k = 0; k < c.size(); ++k) {
      const auto share = static_cast<double>(k) / static_cast<double>(c.size());
      auto model = std::make_unique<EquationsModel>(mass(c[k], 1.0 - share));
      auto description = describe_ode("mass" + std::to_string(k), "equations", model->interface());
      description.events = true;
      SubsystemSettings settings;
      settings.integrator = kind;
      all.push_back(make_ode_subsystem(std::move(description), std::move(model), settings));
      all.back()->start({0.0, h}, 10.0);
    }
    outputs.resize(2 * c.size());
  }

  std::vector<SubsystemBatch> batches() {
    std::vector<BatchCandidate> candidates;
    for (std::size_t k = 0; k < all.size(); ++k) candidates.push_back({all[k].get(), 2 * k});
    return make_advance_batches(candidates);
  }

  /// Every macro-step twice, as where the coupling iterates.
  void run(std::span<const SubsystemBatch> batches, int steps) {
    for (int n = 0; n < steps; ++n) {
      const MacroStep step{n * h, (n + 1) * h};
      for (auto& one : all) one->save();
      advance(batches, step, 1.0);
      for (auto& one : all) one->restore();
      advance(batches, step, 1.001);
    }
  }

  void advance(std::span<const SubsystemBatch> batches, const MacroStep& step, double factor) {
    std::vector<Polynomial> inputs;
    for (std::size_t i = 0; i < 2 * all.size(); ++i) {
      const double phase = static_cast<double>(i);
      inputs.push_back(
          {{factor * std::sin(phase), std::cos(phase), 0.1 * phase, -0.3, 20.0, -70.0}});
    }
    for (const auto& batch : batches) batch.steps->begin(step, inputs);
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_EQ(
          all[k]->advance(step, std::span(inputs).subspan(2 * k, 2), InputContinuity::broken,
                          Wanted::values_and_derivatives, std::span(outputs).subspan(2 * k, 2)),
          Outcome::ok);
    }
    for (const auto& batch : batches) batch.steps->end();
  }

  static constexpr double h = 0.05;
  std::vector<std::unique_ptr<Subsystem>> all;
  std::vector<Sample> outputs;
};

/// Ordinary ones, one that needs several micro-steps, a stiff one.
const std::vector<double> various{11.0, 12.0, 13.0, 14.0, 15.0, 3e4, 1e7, 16.0, 17.0, 18.0};

void expect_same(Masses& one, Masses& other) {
  EXPECT_EQ(
      std::memcmp(one.outputs.data(), other.outputs.data(), one.outputs.size() * sizeof(Sample)),
      0);
  for (std::size_t k = 0; k < one.all.size(); ++k) {
    const Counters& a = one.all[k]->counters();
    const Counters& b = other.all[k]->counters();
    EXPECT_EQ(a.rhs_evaluations, b.rhs_evaluations) << k;
    EXPECT_EQ(a.micro_steps, b.micro_steps) << k;
  }
}

TEST(AdvanceBatches, GiveTheBitsAndCountsOfEachAlone) {
  for (const IntegratorKind kind : {IntegratorKind::automatic, IntegratorKind::erk}) {
    const std::span<const double> c =
        kind == IntegratorKind::erk ? std::span(various).first(6) : std::span(various);
    Masses alone(c, kind), together(c, kind);
    const auto batches = together.batches();
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches.front().members.size(), c.size());
    alone.run({}, 20);
    together.run(batches, 20);
    expect_same(alone, together);
  }
}

TEST(AdvanceBatches, FollowParametersAndEvents) {
  Masses alone(various), together(various);
  const auto batches = together.batches();
  for (Masses* masses : {&alone, &together}) {
    const std::span<const SubsystemBatch> own =
        masses == &alone ? std::span<const SubsystemBatch>() : std::span(batches);
    masses->run(own, 5);
    EXPECT_EQ(masses->all[2]->set_parameter(1, 5.0), Outcome::ok);
    EXPECT_EQ(masses->all[3]->set_parameter(0, 1.0), Outcome::ok);  // another program
    masses->run(own, 5);
  }
  expect_same(alone, together);
}

/// Of those who have made the macro-step as one micro-step, and of nobody else.
TEST(AdvanceBatches, TellTheWaysOfTheirMembers) {
  Masses masses(various);
  const auto batches = masses.batches();
  constexpr double h = 1e-3;
  masses.advance(batches, {0.0, h}, 1.0);
  AdvanceBatch& batch = *batches.front().steps;
  const AdvanceBatch::Way way = batch.way();
  EXPECT_EQ(way.step.end, h);
  const std::size_t n = various.size();
  std::vector<double> y(2 * n), f(2 * n);
  const std::span<const double> u = batch.inputs_at(way.step.size());
  ASSERT_TRUE(batch.outputs(way.step.end, way.end, u, y));
  ASSERT_TRUE(batch.derivatives(way.step.end, way.end, u, f));
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_EQ(way.members[k], various[k] > 100.0 ? 0 : 1) << k;
    for (std::size_t i = 0; i < 2 && way.members[k] != 0; ++i) {
      EXPECT_EQ(way.end[i * n + k], masses.all[k]->states()[i]);
      EXPECT_EQ(y[i * n + k], masses.outputs[2 * k + i].value);
      EXPECT_EQ(f[i * n + k], way.end_slopes[i * n + k]);
    }
  }
}

TEST(AdvanceBatches, AreOfThoseWhoFit) {
  Masses few(std::vector{1.5, 2.0, 3.0});
  EXPECT_TRUE(few.batches().empty());
  Masses implicit(various, IntegratorKind::dirk);
  EXPECT_TRUE(implicit.batches().empty());
  Masses others(std::vector{1.0, 1.0, 1.0, 1.0, 7.0, 8.0, 9.0, 10.0, 11.0});  // 1 * x is x
  const auto batches = others.batches();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].members, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(batches[1].members, (std::vector<std::size_t>{4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace concord

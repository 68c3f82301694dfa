#include "subsystem/equations/equations_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <stdexcept>

namespace concord {
namespace {

/// Two states, an input, a relation that holds or not and something discrete.
EquationsDescription mass(double m, double c, double d) {
  return {.subsystem = "mass",
          .location = "",
          .parameters = {{"m", m, ""}, {"c", c, ""}},
          .inputs = {{"f", 1.0, ""}},
          .states = {{"x", 1.0, ""}, {"v", 0.5, ""}},
          .derivatives = {{"x", "v", ""}, {"v", "(f - c*x - d*abs(v)*v)/m + sin(t)", ""}},
          .outputs = {{"x", "x", ""}, {"power", "f*v/c", ""}, {"energy", "m*v^2/2", ""}},
          .discrete = {{"d", d, ""}},
          .whens = {{"x < -9", std::nullopt, 0.0, false, {{"d", "2*d", ""}}, ""}},
          .units = {}};
}

class Batch : public testing::Test {
 protected:
  static constexpr std::size_t n = 37;

  Batch() {
    for (std::size_t i = 0; i < n; ++i) {
      const double share = static_cast<double>(i) / n;
      models.emplace_back(mass(2.5 + share, 100.0 + 7.0 * share, 0.1 + share));
      x.push_back(1.0 - 3.0 * share);
      u.push_back(0.3 + share);
      du.push_back(std::sin(share));
      ddu.push_back(std::cos(share));
    }
    for (std::size_t i = 0; i < n; ++i) x.push_back(std::sin(9.0 * static_cast<double>(i)));
    for (std::size_t i = 0; i < n; ++i) models[i].begin(t, x_of(i), std::span(u).subspan(i, 1));
  }

  std::vector<EquationsModel*> members() {
    std::vector<EquationsModel*> result;
    for (EquationsModel& model : models) result.push_back(&model);
    return result;
  }
  std::array<double, 2> x_of(std::size_t i) const { return {x[i], x[n + i]}; }

  /// `ask(model, x, u, du, ddu, result)` of each member alone.
  template <class Ask>
  void expect_as_alone(std::span<const double> found, std::size_t rows, Ask&& ask) {
    std::vector<double> alone(rows);
    for (std::size_t i = 0; i < n; ++i) {
      const auto state = x_of(i);
      const auto of = [i](std::vector<double>& all) { return std::span(all).subspan(i, 1); };
      ask(models[i], state, of(u), of(du), of(ddu), alone);
      for (std::size_t row = 0; row < rows; ++row)
        EXPECT_EQ(found[row * n + i], alone[row]) << row << ", member " << i;
    }
  }

  static constexpr double t = 0.3;
  std::deque<EquationsModel> models;
  std::vector<double> x, u, du, ddu;
};

using Span = std::span<const double>;

TEST_F(Batch, gives_what_each_member_gives) {
  EquationsBatch batch(members());
  ASSERT_EQ(batch.size(), n);
  std::vector<double> f(2 * n), y(3 * n);
  batch.derivatives(t, x, u, f);
  expect_as_alone(f, 2, [](EquationsModel& m, Span state, Span input, Span, Span, auto& result) {
    m.derivatives(t, state, input, result);
  });
  batch.outputs(t, x, u, y);
  expect_as_alone(y, 3, [](EquationsModel& m, Span state, Span input, Span, Span, auto& result) {
    m.outputs(t, state, input, result);
  });
  batch.output_slopes(t, x, u, {f, du}, y);
  expect_as_alone(y, 3,
                  [](EquationsModel& m, Span state, Span input, Span move, Span, auto& result) {
                    std::array<double, 2> dxdt;
                    m.derivatives(t, state, input, dxdt);
                    m.output_slopes(t, state, input, {dxdt, move}, result);
                  });
  ASSERT_TRUE(batch.output_curvatures(t, x, u, {du, ddu}, y));
  expect_as_alone(
      y, 3, [](EquationsModel& m, Span state, Span input, Span move, Span bend, auto& result) {
        m.output_curvatures(t, state, input, {move, bend}, result);
      });
}

TEST_F(Batch, gives_partial_derivatives_of_each_member) {
  EquationsBatch batch(members());
  const auto in_jacobian = [](EquationsModel& m, Span state, Span input, auto& f_x, auto& g_x) {
    std::array<double, 2> f_u;
    std::array<double, 3> g_u;
    m.jacobians(t, state, input, {f_x, f_u, g_x, g_u});
  };
  for (const bool of_f : {true, false}) {
    const auto entries = of_f ? batch.f_entries() : batch.g_entries();
    const Span values = of_f ? batch.f_partials(t, x, u) : batch.g_partials(t, x, u);
    ASSERT_EQ(values.size(), entries.size() * n);
    for (std::size_t i = 0; i < n; ++i) {
      std::array<double, 4> f_x;
      std::array<double, 6> g_x;
      in_jacobian(models[i], x_of(i), std::span(u).subspan(i, 1), f_x, g_x);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        const auto [row, variable] = entries[k];
        if (variable == 0 || variable > 2) continue;
        EXPECT_EQ(values[k * n + i],
                  of_f ? f_x[2 * row + variable - 1] : g_x[2 * row + variable - 1])
            << row << ", " << variable;
      }
    }
  }
}

TEST_F(Batch, follows_events_and_parameters_of_its_members) {
  EquationsBatch batch(members());
  std::vector<double> y(3 * n);
  const auto expect_curvatures = [&] {
    ASSERT_TRUE(batch.output_curvatures(t, x, u, {du, ddu}, y));
    expect_as_alone(
        y, 3, [](EquationsModel& m, Span state, Span input, Span move, Span bend, auto& result) {
          m.output_curvatures(t, state, input, {move, bend}, result);
        });
  };
  expect_curvatures();
  const double before = y[2 * n + 5];
  models[5].set_parameter(0, 7.3);
  EXPECT_TRUE(batch.refresh(5));
  expect_curvatures();
  EXPECT_NE(y[2 * n + 5], before);
  x[n + 6] = -x[n + 6];  // abs(v) turns round
  models[6].begin(t, x_of(6), std::span(u).subspan(6, 1));
  EXPECT_TRUE(batch.refresh(6));
  expect_curvatures();
}

TEST_F(Batch, tells_whom_it_cannot_have) {
  EXPECT_TRUE(models[0].fits(models[1]));
  EquationsBatch batch(members());
  models[4].set_parameter(0, 1.0);  // divides nothing
  EXPECT_FALSE(batch.refresh(4));
  EXPECT_FALSE(models[0].fits(models[4]));
  EXPECT_THROW(EquationsBatch{members()}, std::logic_error);
}

}  // namespace
}  // namespace concord

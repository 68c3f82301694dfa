#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "subsystem/equations/equations_model.hpp"

/// Equations, the same formulas in C++, and a clock for both.
namespace concord::benchmarks {

inline EquationsDescription mass() {
  return {.subsystem = "mass",
          .location = "",
          .parameters = {{"m", 5.0, ""}, {"c", 1e4, ""}, {"d", 10.0, ""}},
          .inputs = {{"f", 1.0, ""}},
          .states = {{"x", 1.0, ""}, {"v", 0.5, ""}},
          .derivatives = {{"x", "v", ""}, {"v", "(f - c*x - d*v)/m", ""}},
          .outputs = {{"x", "x", ""}, {"v", "v", ""}},
          .units = {}};
}

inline EquationsDescription prey() {
  return {.subsystem = "prey",
          .location = "",
          .parameters = {{"alpha", 0.67, ""}, {"beta", 1.33, ""}},
          .inputs = {{"predators", 1.0, ""}},
          .states = {{"amount", 1.0, ""}},
          .derivatives = {{"amount", "alpha*amount - beta*amount*predators", ""}},
          .outputs = {{"amount", "amount", ""}},
          .units = {}};
}

inline EquationsDescription pendulum() {
  return {.subsystem = "pendulum",
          .location = "",
          .parameters = {{"g", 9.81, ""}, {"l", 2.0, ""}},
          .inputs = {{"push", 1.0, ""}},
          .states = {{"phi", 0.3, ""}, {"omega", 0.5, ""}},
          .derivatives = {{"phi", "omega", ""},
                          {"omega", "-g/l*sin(phi) - 0.1*abs(omega)*omega + push*cos(phi)", ""}},
          .outputs = {{"x", "l*sin(phi)", ""}, {"y", "-l*cos(phi)", ""}},
          .units = {}};
}

inline EquationsDescription chain(int n) {
  EquationsDescription result{.subsystem = "chain",
                              .location = "",
                              .parameters = {{"c", 10.0, ""}},
                              .inputs = {{"left", 1.0, ""}},
                              .states = {},
                              .derivatives = {},
                              .outputs = {{"right", "x0", ""}},
                              .units = {}};
  for (int i = 0; i < n; ++i) {
    const std::string own = "x" + std::to_string(i);
    const std::string before = i == 0 ? "left" : "x" + std::to_string(i - 1);
    const std::string after = i + 1 == n ? "0" : "x" + std::to_string(i + 1);
    result.states.push_back({own, 0.1, ""});
    result.derivatives.push_back(
        {own, "c*(1 + " + own + "^2)*(" + before + " - 2*" + own + " + " + after + ")", ""});
  }
  return result;
}

/// Formulas of the same kinds as the equations, by hand.
class Native : public OdeModel {
 public:
  OdeInterface interface() const override { return {}; }
};

class NativeMass final : public Native {
  double m_ = 5.0, c_ = 1e4, d_ = 10.0;

  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> f) override {
    f[0] = x[1];
    f[1] = (u[0] - c_ * x[0] - d_ * x[1]) / m_;
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
    y[1] = x[1];
  }
  bool output_slopes(double, std::span<const double>, std::span<const double>, const Motion& motion,
                     std::span<double> slopes) override {
    slopes[0] = motion.dxdt[0];
    slopes[1] = motion.dxdt[1];
    return true;
  }
  bool jacobians(double, std::span<const double>, std::span<const double>,
                 const Jacobians& j) override {
    j.f_x[0] = 0.0, j.f_x[1] = 1.0, j.f_x[2] = -c_ / m_, j.f_x[3] = -d_ / m_;
    j.f_u[0] = 0.0, j.f_u[1] = 1.0 / m_;
    j.g_x[0] = j.g_x[3] = 1.0, j.g_x[1] = j.g_x[2] = 0.0;
    j.g_u[0] = j.g_u[1] = 0.0;
    return true;
  }
};

/// Puts out its first state.
class NativeState : public Native {
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }
  bool output_slopes(double, std::span<const double>, std::span<const double>, const Motion& motion,
                     std::span<double> slopes) override {
    slopes[0] = motion.dxdt[0];
    return true;
  }
};

class NativePrey final : public NativeState {
  double alpha_ = 0.67, beta_ = 1.33;

  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> f) override {
    f[0] = alpha_ * x[0] - beta_ * x[0] * u[0];
  }
  bool jacobians(double, std::span<const double> x, std::span<const double> u,
                 const Jacobians& j) override {
    j.f_x[0] = alpha_ - beta_ * u[0];
    j.f_u[0] = -beta_ * x[0];
    j.g_x[0] = 1.0;
    j.g_u[0] = 0.0;
    return true;
  }
};

class NativePendulum final : public Native {
  double g_ = 9.81, l_ = 2.0;

  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> f) override {
    f[0] = x[1];
    f[1] = -g_ / l_ * std::sin(x[0]) - 0.1 * std::abs(x[1]) * x[1] + u[0] * std::cos(x[0]);
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = l_ * std::sin(x[0]);
    y[1] = -l_ * std::cos(x[0]);
  }
  bool output_slopes(double, std::span<const double> x, std::span<const double>,
                     const Motion& motion, std::span<double> slopes) override {
    slopes[0] = l_ * std::cos(x[0]) * motion.dxdt[0];
    slopes[1] = l_ * std::sin(x[0]) * motion.dxdt[0];
    return true;
  }
  bool jacobians(double, std::span<const double> x, std::span<const double> u,
                 const Jacobians& j) override {
    const double sine = std::sin(x[0]), cosine = std::cos(x[0]);
    j.f_x[0] = 0.0, j.f_x[1] = 1.0;
    j.f_x[2] = -g_ / l_ * cosine - u[0] * sine, j.f_x[3] = -0.2 * std::abs(x[1]);
    j.f_u[0] = 0.0, j.f_u[1] = cosine;
    j.g_x[0] = l_ * cosine, j.g_x[2] = l_ * sine, j.g_x[1] = j.g_x[3] = 0.0;
    j.g_u[0] = j.g_u[1] = 0.0;
    return true;
  }
};

class NativeChain final : public NativeState {
  double c_ = 10.0;

  static double between(std::span<const double> x, std::span<const double> u, std::size_t i) {
    const double before = i == 0 ? u[0] : x[i - 1], after = i + 1 == x.size() ? 0.0 : x[i + 1];
    return before - 2.0 * x[i] + after;
  }
  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> f) override {
    for (std::size_t i = 0; i < x.size(); ++i) f[i] = c_ * (1.0 + x[i] * x[i]) * between(x, u, i);
  }
  bool jacobians(double, std::span<const double> x, std::span<const double> u,
                 const Jacobians& j) override {
    for (const std::span<double> block : {j.f_x, j.f_u, j.g_x, j.g_u})
      std::fill(block.begin(), block.end(), 0.0);
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) {
      const double steep = c_ * (1.0 + x[i] * x[i]);
      j.f_x[i * n + i] = 2.0 * c_ * x[i] * between(x, u, i) - 2.0 * steep;
      (i == 0 ? j.f_u[0] : j.f_x[i * n + i - 1]) = steep;
      if (i + 1 < n) j.f_x[i * n + i + 1] = steep;
    }
    j.g_x[0] = 1.0;
    return true;
  }
};

/// The best of many short series, so that other programs on the machine count little.
template <class Call>
double nanoseconds(long count, Call&& call) {
  constexpr int series = 200;
  const long each = std::max(1L, count / series);
  double best = 1e300;
  for (int i = 0; i < series; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (long k = 0; k < each; ++k) call();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / static_cast<double>(each));
  }
  return best;
}

struct Case {
  std::string name;
  EquationsDescription description;
  std::unique_ptr<OdeModel> native;
};

inline std::vector<Case> cases() {
  std::vector<Case> result;
  result.push_back({"mass", mass(), std::make_unique<NativeMass>()});
  result.push_back({"prey", prey(), std::make_unique<NativePrey>()});
  result.push_back({"pendulum", pendulum(), std::make_unique<NativePendulum>()});
  result.push_back({"chain", chain(100), std::make_unique<NativeChain>()});
  return result;
}

}  // namespace concord::benchmarks

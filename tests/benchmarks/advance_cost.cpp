// Prints the cost of one macro-step by integrator: microseconds, evaluations of f, micro-steps.
//   advance_cost [macro-steps = 200000] [h = 1e-3]

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "subsystem/ode_subsystem.hpp"

namespace {

using namespace concord;

/// A damped oscillator driven by a force, n of them side by side; the output is the first position.
class Oscillators final : public OdeModel {
 public:
  explicit Oscillators(std::size_t count) : count_(count) {}

  OdeInterface interface() const override {
    OdeInterface result;
    result.inputs = {{"force", "", 0.0}};
    for (std::size_t i = 0; i < count_; ++i) {
      result.states.push_back({"x" + std::to_string(i), "", 1.0});
      result.states.push_back({"v" + std::to_string(i), "", 0.0});
    }
    result.outputs = {{"x", ""}};
    return result;
  }
  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    for (std::size_t i = 0; i < count_; ++i) {
      dxdt[2 * i] = x[2 * i + 1];
      dxdt[2 * i + 1] = -x[2 * i] - 0.1 * x[2 * i + 1] + u[0];
    }
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }

 private:
  std::size_t count_;
};

struct Case {
  const char* name;
  IntegratorKind kind;
  InputContinuity continuity;
};

void measure(const Case& c, std::size_t oscillators, long steps, double h, double rtol,
             Wanted wanted) {
  SubsystemSettings settings;
  settings.integrator = c.kind;
  settings.tolerance.relative = rtol;
  settings.tolerance.absolute = rtol * 1e-2;
  auto model = std::make_unique<Oscillators>(oscillators);
  auto description = describe_ode("oscillators", "native", model->interface());
  const auto subsystem = make_ode_subsystem(std::move(description), std::move(model), settings);
  subsystem->start({0.0, h}, h * static_cast<double>(steps));
  const Polynomial force{{0.5, 0.0, 0.0, 0.0}};
  Sample y;
  const auto begin = std::chrono::steady_clock::now();
  for (long n = 0; n < steps; ++n) {
    const MacroStep step{h * static_cast<double>(n), h * static_cast<double>(n + 1)};
    if (subsystem->advance(step, {&force, 1}, c.continuity, wanted, {&y, 1}) == Outcome::failed) {
      std::printf("%s\n", subsystem->failure().c_str());
      return;
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double count = static_cast<double>(steps);
  std::printf("%-22s n_st %4zu  rtol %7.0e  %s %8.3f us  %6.2f f  %6.2f micro-steps\n", c.name,
              2 * oscillators, rtol, wanted == Wanted::values ? "y    " : "y, y'",
              1e6 * seconds / count,
              static_cast<double>(subsystem->counters().rhs_evaluations) / count,
              static_cast<double>(subsystem->counters().micro_steps) / count);
}

}  // namespace

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 200'000;
  const double h = argc > 2 ? std::atof(argv[2]) : 1e-3;
  const Case cases[] = {
      {"erk", IntegratorKind::erk, InputContinuity::broken},
      {"auto", IntegratorKind::automatic, InputContinuity::broken},
      {"cvode_bdf restarted", IntegratorKind::cvode_bdf, InputContinuity::broken},
      {"cvode_bdf continued", IntegratorKind::cvode_bdf, InputContinuity::smooth},
      {"cvode_adams restarted", IntegratorKind::cvode_adams, InputContinuity::broken},
      {"cvode_adams continued", IntegratorKind::cvode_adams, InputContinuity::smooth},
  };
  for (const Case& c : cases)
    for (const Wanted wanted : {Wanted::values, Wanted::values_and_derivatives})
      measure(c, 1, steps, h, 1e-8, wanted);
  for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12})
    measure(cases[0], 1, steps, h, rtol, Wanted::values);
  for (const Case& c : cases) measure(c, 100, steps / 100, h, 1e-8, Wanted::values_and_derivatives);
}

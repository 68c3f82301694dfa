#pragma once

#include <functional>
#include <memory>

#include "concord/errors.hpp"
#include "subsystem/ode_subsystem.hpp"

namespace concord::test {

using Span = std::span<const double>;
using Out = std::span<double>;

/// An OdeModel made of lambdas.
class LambdaModel final : public OdeModel {
 public:
  using Function = std::function<void(double, Span, Span, Out)>;

  LambdaModel(std::vector<double> start, std::size_t inputs, std::size_t outputs, Function f,
              Function g)
      : f_(std::move(f)), g_(std::move(g)) {
    for (std::size_t i = 0; i < start.size(); ++i)
      interface_.states.push_back({"x" + std::to_string(i), "", start[i]});
    for (std::size_t i = 0; i < inputs; ++i)
      interface_.inputs.push_back({"u" + std::to_string(i), "", 0.0});
    for (std::size_t i = 0; i < outputs; ++i)
      interface_.outputs.push_back({"y" + std::to_string(i), ""});
  }

  OdeInterface interface() const override { return interface_; }
  void declare_linear() {
    interface_.constant_jacobians = true;
    interface_.time_dependent = false;
  }
  void derivatives(double t, Span x, Span u, Out dxdt) override { f_(t, x, u, dxdt); }
  void outputs(double t, Span x, Span u, Out y) override { g_(t, x, u, y); }
  bool jacobians(double t, Span x, Span u, const Jacobians& result) override {
    if (exact) exact(t, x, u, result);
    return static_cast<bool>(exact);
  }

  std::function<void(double, Span, Span, const Jacobians&)> exact;

 private:
  OdeInterface interface_;
  Function f_, g_;
};

inline void first_state(double, Span x, Span, Out y) { y[0] = x[0]; }

inline std::unique_ptr<Subsystem> subsystem_of(std::unique_ptr<OdeModel> model,
                                               const SubsystemSettings& settings) {
  SubsystemDescription description = describe_ode("s", "native", model->interface());
  return make_ode_subsystem(std::move(description), std::move(model), settings);
}

inline std::unique_ptr<Subsystem> subsystem_of(std::vector<double> start, std::size_t inputs,
                                               LambdaModel::Function f,
                                               const SubsystemSettings& settings,
                                               LambdaModel::Function g = first_state,
                                               std::size_t outputs = 1) {
  return subsystem_of(
      std::make_unique<LambdaModel>(std::move(start), inputs, outputs, std::move(f), std::move(g)),
      settings);
}

inline SubsystemSettings settings_of(IntegratorKind kind, double rtol = 1e-8) {
  SubsystemSettings settings;
  settings.integrator = kind;
  settings.tolerance.relative = rtol;
  settings.tolerance.absolute = 1e-2 * rtol;
  return settings;
}

/// x' = -x + u.
inline void lag(double, Span x, Span u, Out dxdt) { dxdt[0] = -x[0] + u[0]; }

/// A cubic in absolute time as a polynomial of the macro-step's local time.
inline Polynomial shifted(const std::array<double, 4>& c, double t) {
  return {{c[0] + t * (c[1] + t * (c[2] + t * c[3])), c[1] + t * (2 * c[2] + 3 * t * c[3]),
           c[2] + 3 * t * c[3], c[3]}};
}

}  // namespace concord::test

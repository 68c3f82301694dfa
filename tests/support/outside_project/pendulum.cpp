/// A pendulum with a torque as its input, for `native: {library: libpendulum.so, type: pendulum}`.
#include <cmath>
#include <span>

#include "concord/ode_model.hpp"
#include "concord/registry.hpp"

namespace {

class Pendulum : public concord::OdeModel {
 public:
  explicit Pendulum(const concord::Parameters& parameters)
      : length_(parameters.number("length", 1.0)), mass_(parameters.number("mass", 1.0)) {}

  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"torque", "N.m", 0.0}};
    result.states = {{"angle", "rad", 0.5}, {"rate", "rad/s", 0.0}};
    result.outputs = {{"angle", "rad"}};
    result.feedthrough.emplace();
    return result;
  }

  void derivatives(double /*t*/, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    constexpr double gravity = 9.81;
    dxdt[0] = x[1];
    dxdt[1] = -gravity / length_ * std::sin(x[0]) + u[0] / (mass_ * length_ * length_);
  }

  void outputs(double /*t*/, std::span<const double> x, std::span<const double> /*u*/,
               std::span<double> y) override {
    y[0] = x[0];
  }

 private:
  double length_;
  double mass_;
};

CONCORD_REGISTER_SUBSYSTEM("pendulum", Pendulum)

}  // namespace

/// Two carts, joined by a spring and a damper in series: an FMU, a subsystem with time stepping of
/// its own and models that Concord integrates, in one model built in C++; see README.md.
#include <array>
#include <memory>
#include <span>
#include <string>

#include "concord/ode_model.hpp"
#include "concord/program.hpp"
#include "concord/subsystem.hpp"

namespace {

constexpr double stiffness = 50.0;       // N/m
constexpr double mass = 3.0;             // kg
constexpr double damper_opens = 1.0;     // s
constexpr double closed = 20.0;          // N s/m, before
constexpr double open = 5.0;             // N s/m, after
constexpr double gauge_constant = 0.05;  // s

/// s = f / k.
class Spring : public concord::OdeModel {
 public:
  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"f", "N", 0.0}};
    result.outputs = {{"s", "m"}};
    result.time_dependent = false;
    return result;
  }
  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {}
  void outputs(double, std::span<const double>, std::span<const double> u,
               std::span<double> y) override {
    y[0] = u[0] / stiffness;
  }
};

/// d' = f / c, where c falls at an event.
class Damper : public concord::OdeModel {
 public:
  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"f", "N", 0.0}};
    result.states = {{"d", "m", 0.0}};
    result.outputs = {{"d", "m"}};
    result.feedthrough.emplace();
    return result;
  }
  void derivatives(double t, std::span<const double>, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = u[0] / (t < damper_opens ? closed : open);
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }
};

/// A position in metres, with a delay of first order.
class Gauge : public concord::OdeModel {
 public:
  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"x", "m", 0.0}};
    result.states = {{"shown", "m", 0.0}};
    result.outputs = {{"shown", "m"}};
    result.feedthrough.emplace();
    result.time_dependent = false;
    return result;
  }
  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = (u[0] - x[0]) / gauge_constant;
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }
};

/// m x'' = f, stepped by itself: f is a polynomial over the macro-step, so that x and v are known
/// in closed form. Puts out x in mm.
class Body : public concord::Subsystem {
 public:
  Body() : Subsystem(described()) {}

  void start(const concord::MacroStep&, double) override { now_ = saved_ = {0.4, 0.0}; }

  concord::Outcome advance(const concord::MacroStep& step,
                           std::span<const concord::Polynomial> inputs, concord::InputContinuity,
                           concord::Wanted, std::span<concord::Sample> outputs) override {
    const double h = step.size();
    double once = 0.0, twice = 0.0, power = h;  // integrals of f, and powers of h
    for (int p = 0; p < 4; ++p, power *= h) {
      once += inputs[0].c[static_cast<std::size_t>(p)] * power / (p + 1);
      twice += inputs[0].c[static_cast<std::size_t>(p)] * power * h / ((p + 1) * (p + 2));
    }
    now_ = {now_[0] + h * now_[1] + twice / mass, now_[1] + once / mass};
    ++counters_.advances;
    put_out(outputs);
    return concord::Outcome::ok;
  }

  concord::Outcome point_outputs(std::span<const concord::Sample>, concord::Wanted,
                                 std::span<concord::Sample> outputs) override {
    put_out(outputs);
    return concord::Outcome::ok;
  }

  std::span<const double> states() const override { return now_; }
  void save() override { saved_ = now_; }
  void restore() override { now_ = saved_; }
  bool io(concord::Archive& archive) override {
    archive(now_);
    return true;
  }

 private:
  static concord::SubsystemDescription described() {
    concord::SubsystemDescription description;
    description.inputs = {{"f", "N", 0.0}};
    description.states = {{"x", "m", 0.4}, {"v", "m/s", 0.0}};
    description.outputs = {{"x", "mm"}};
    auto& can = description.capabilities;
    can.polynomial_inputs = can.output_derivatives = can.point_outputs = true;
    can.states = can.rollback = true;
    return description;
  }

  void put_out(std::span<concord::Sample> outputs) const {
    outputs[0] = {1e3 * now_[0], 1e3 * now_[1]};
  }

  std::array<double, 2> now_{}, saved_{};  ///< x, v
};

template <class Model>
std::unique_ptr<concord::OdeModel> make() {
  return std::make_unique<Model>();
}

concord::ModelBuilder build(const concord::ProgramOptions& options) {
  concord::ModelBuilder model("built model", 0.0, 2.0);
  model.add_fmu("cart", options.text("built_fmu", "cart.fmu"))
      .add_subsystem("body", [] { return std::make_unique<Body>(); })
      .add("spring", make<Spring>)
      .add("damper", make<Damper>)
      .add("gauge", make<Gauge>);
  // The force that stretches both, so that they fill the distance; body.x is in mm.
  model.constrain("force", "cart.x - body.x/1000 - spring.s - damper.d",
                  {{"cart.f", -1.0}, {"body.f", 1.0}, {"spring.f", 1.0}, {"damper.f", 1.0}});
  model.connect("body.x", "gauge.x");  // mm to m
  model.start_value("cart.m", 4.0).start_value("damper.d", 0.05).start_value("gauge.shown", 0.4);
  model.event(damper_opens);
  model.group({"cart", "spring", "damper"}).group({"body", "gauge"});
  return model;
}

}  // namespace

int main(int argc, char** argv) { return concord::run_program(argc, argv, build); }

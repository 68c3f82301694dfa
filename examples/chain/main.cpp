/// A chain of N equal masses between two walls, one subsystem per mass; see README.md.
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "concord/ode_model.hpp"
#include "concord/program.hpp"

namespace {

struct MassParameters {
  double mass = 1.0;         // kg
  double stiffness = 100.0;  // N/m, of the spring on either side
  double damping = 0.1;      // N s/m, of the damper on either side
  double start = 0.0;        // m
};

/// One mass: m x'' = c (x_left - x) + d (v_left - v) + c (x_right - x) + d (v_right - v).
/// An input that is not connected stays at zero: a wall.
class Mass : public concord::OdeModel {
 public:
  explicit Mass(const MassParameters& parameters) : p_(parameters) {}

  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"x_left", "m", 0.0},
                     {"v_left", "m/s", 0.0},
                     {"x_right", "m", 0.0},
                     {"v_right", "m/s", 0.0}};
    result.states = {{"x", "m", p_.start}, {"v", "m/s", 0.0}};
    result.outputs = {{"x", "m"}, {"v", "m/s"}};
    result.feedthrough.emplace();  // outputs are states: no input feeds through
    result.time_dependent = false;
    return result;
  }

  void derivatives(double /*t*/, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    const double stretch = u[0] + u[2] - 2.0 * x[0];
    const double stretch_rate = u[1] + u[3] - 2.0 * x[1];
    dxdt[0] = x[1];
    dxdt[1] = (p_.stiffness * stretch + p_.damping * stretch_rate) / p_.mass;
  }

  void outputs(double /*t*/, std::span<const double> x, std::span<const double> /*u*/,
               std::span<double> y) override {
    y[0] = x[0];
    y[1] = x[1];
  }

  bool jacobians(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
                 const concord::Jacobians& result) override {
    const double c = p_.stiffness / p_.mass;
    const double d = p_.damping / p_.mass;
    copy<4>({0.0, 1.0, -2.0 * c, -2.0 * d}, result.f_x);
    copy<8>({0.0, 0.0, 0.0, 0.0, c, d, c, d}, result.f_u);
    copy<4>({1.0, 0.0, 0.0, 1.0}, result.g_x);
    copy<8>({}, result.g_u);
    return true;
  }

 private:
  template <std::size_t n>
  static void copy(const std::array<double, n>& from, std::span<double> to) {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }

  MassParameters p_;
};

std::string mass_name(int i) { return "mass" + std::to_string(i); }

concord::ModelBuilder build_chain(const concord::ProgramOptions& options) {
  const int n = static_cast<int>(options.integer("chain_n", 10));
  if (n < 1) {
    throw concord::InputError("-chain_n is " + std::to_string(n) + "; give at least one mass");
  }
  MassParameters parameters;
  parameters.mass = options.real("chain_mass", parameters.mass);
  parameters.stiffness = options.real("chain_stiffness", parameters.stiffness);
  parameters.damping = options.real("chain_damping", parameters.damping);

  concord::ModelBuilder model("chain", 0.0, 2.0);
  for (int i = 1; i <= n; ++i) {
    MassParameters own = parameters;
    own.start = i == 1 ? 1.0 : 0.0;  // the first mass is displaced, all are at rest
    model.add(mass_name(i), [own] { return std::make_unique<Mass>(own); });
  }
  for (int i = 1; i < n; ++i) {
    const std::string left = mass_name(i);
    const std::string right = mass_name(i + 1);
    for (const std::string variable : {"x", "v"}) {
      model.connect(left + "." + variable, right + "." + variable + "_left");
      model.connect(right + "." + variable, left + "." + variable + "_right");
    }
  }
  return model;
}

}  // namespace

int main(int argc, char** argv) { return concord::run_program(argc, argv, build_chain); }

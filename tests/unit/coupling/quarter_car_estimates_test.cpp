#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "coupling/richardson_coupling.hpp"
#include "modelfile/model_file.hpp"

// Richardson's estimates beside the true local error of every output, on the quarter car of Arnold
// 2012 (figures "Local error estimates: Benchmark Quarter car").

namespace concord {
namespace {

constexpr std::size_t chassis_x = 0, chassis_v = 1, wheel_x = 2, wheel_v = 3;
using State = std::array<double, 4>;

State slope(const State& s) {
  const double force = 15000 * (s[wheel_x] - s[chassis_x]) + 1000 * (s[wheel_v] - s[chassis_v]);
  return {s[chassis_v], force / 400, s[wheel_v], (150000 * (0.1 - s[wheel_x]) - force) / 40};
}

/// Exact solution after time h: Taylor series in many small steps. Beyond the first, derivatives
/// obey the homogeneous equations.
State exactly(State s, double h) {
  constexpr int substeps = 50, terms = 18;
  const State origin = slope({});
  for (int n = 0; n < substeps; ++n) {
    State derivative = slope(s);
    double factor = 1.0;
    for (int p = 1; p < terms; ++p) {
      factor *= h / substeps / p;
      for (std::size_t i = 0; i < 4; ++i) s[i] += factor * derivative[i];
      derivative = slope(derivative);
      for (std::size_t i = 0; i < 4; ++i) derivative[i] -= origin[i];
    }
  }
  return s;
}

/// In the order of the model files' outputs.
std::vector<double> outputs_of(const State& s, bool with_force) {
  std::vector<double> outputs(s.begin(), s.end());
  if (with_force) {
    outputs.push_back(15000 * (s[wheel_x] - s[chassis_x]) + 1000 * (s[wheel_v] - s[chassis_v]));
  }
  return outputs;
}

struct Errors {
  std::vector<double> estimated, real, sizes;  ///< per output, root mean squares
};

class QuarterCar : public testing::TestWithParam<const char*> {
 protected:
  bool with_force() const { return GetParam() == std::string("force"); }

  /// Double steps of size 2h up to t = 0.12; errors of the last ones, from t = 0.08 on.
  Errors errors(ErrorEstimate estimate, int order, double h) const {
    const Model model = read_model_file(std::string(CONCORD_EXAMPLES) +
                                        "/quarter_car/quarter_car_" + GetParam() + ".yaml");
    const Network network(model);
    const Partition partition(network, 1);
    SubsystemSettings settings;
    settings.rtol = settings.atol = 1e-13;
    RankNetwork subsystems(PETSC_COMM_SELF, model, network, partition,
                           SettingsList(model.subsystems.size(), settings));
    Method method = method_presets().front();
    method.hold = Hold::extrapolate;
    method.solve = Solve::none;
    method.hold_order = order;
    method.estimate = estimate;
    RichardsonCoupling coupling(method, subsystems);
    return along(coupling, subsystems, h);
  }

 private:
  Errors along(RichardsonCoupling& coupling, RankNetwork& subsystems, double h) const {
    CommunicationPoint point;
    coupling.start({0.0, 2.0 * h}, 1.0, point);
    for (std::size_t i = 0; i < point.inputs.size(); ++i) {
      point.polynomials[i].c[0] = point.inputs[i].value;
    }
    Trial trial{point.inputs, point.outputs, point.polynomials};
    Errors result;
    const std::size_t n = point.outputs.size();
    result.estimated = result.real = result.sizes = std::vector<double>(n, 0.0);
    const auto count = static_cast<int>(std::lround(0.12 / (2.0 * h)));
    for (int step = 0; step < count; ++step) {
      State begin;
      subsystems.gather_states(begin);
      const MacroStep macro_step{2.0 * h * step, 2.0 * h * (step + 1)};
      subsystems.save();
      EXPECT_EQ(coupling.solve(macro_step, point, trial).status, CouplingStatus::converged);
      const auto exact = outputs_of(exactly(begin, macro_step.size()), with_force());
      for (std::size_t o = 0; macro_step.begin > 0.08 && o < n; ++o) {
        result.estimated[o] = std::hypot(result.estimated[o], coupling.error_estimates()[o]);
        result.real[o] = std::hypot(result.real[o], trial.outputs[o].value - exact[o]);
        result.sizes[o] = std::hypot(result.sizes[o], exact[o]);
      }
      point.inputs = trial.inputs;
      point.outputs = trial.outputs;
      point.polynomials = trial.polynomials;
      point.time = macro_step.end;
      point.last_step = h;
      point.slopes_known = true;
      coupling.commit(point);
    }
    return result;
  }
};

TEST_P(QuarterCar, EstimatesBesideTrueLocalErrors) {
  const char* names[] = {"chassis.x", "chassis.v", "wheel.x", "wheel.v", "wheel.f"};
  for (const int order : {0, 1, 2}) {
    std::printf(
        "%s coupling, order %d: true local error, estimate / true error, classical and "
        "modified\n",
        GetParam(), order);
    for (const double h : {1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5}) {
      const Errors classical = errors(ErrorEstimate::richardson, order, h);
      const Errors modified = errors(ErrorEstimate::richardson_modified, order, h);
      std::printf("  h = %-6g", h);
      for (std::size_t o = 0; o < modified.real.size(); ++o) {
        const double ratio = modified.estimated[o] / modified.real[o];
        const double size = modified.real[o] / modified.sizes[o];
        std::printf("  %s %.1e %.2f %.2f", names[o], size,
                    classical.estimated[o] / modified.real[o], ratio);
        const bool above_rounding = size > 3e-12;
        if (order < 2 && h <= 1e-3 && above_rounding) {
          EXPECT_GT(ratio, 0.3) << names[o] << ", h = " << h << ", order " << order;
          EXPECT_LT(ratio, 3.0) << names[o] << ", h = " << h << ", order " << order;
        }
      }
      std::printf("\n");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Couplings, QuarterCar, testing::Values("displacement", "force"));

}  // namespace
}  // namespace concord

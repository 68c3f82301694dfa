#include "subsystem/fmu/fmu_jacobians.hpp"

#include <algorithm>
#include <utility>

namespace concord {

namespace {

bool all_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
}

}  // namespace

bool FmuJacobians::ask(Linearization& result) {
  const FmuSetup& setup = fmu_.setup();
  const FmuPoint& now = fmu_.now();
  const std::size_t n_st = now.x.size(), n_in = now.u.size(), n_out = now.y.size();
  const auto partial = [&](const FmuPorts& unknowns, std::size_t rows, const FmuPorts& knowns,
                           std::size_t columns, std::vector<double>& matrix) {
    matrix.resize(rows * columns);
    return fmu_.instance().partial(unknowns, rows, knowns, columns, matrix);
  };
  return partial(setup.derivatives, n_st, setup.states, n_st, result.f_x) &&
         partial(setup.derivatives, n_st, all_inputs_, n_in, result.f_u) &&
         partial(fmu_.outputs(), n_out, setup.states, n_st, result.g_x) &&
         partial(fmu_.outputs(), n_out, all_inputs_, n_in, result.g_u);
}

bool FmuJacobians::find(Linearization& result) {
  if (fmu_.use().directional && ask(last_)) {
    known_ = true;
  } else if (!known_) {
    return fmu_.failed(fmu_.instance().failure() +
                       "; withhold its directional derivatives (-subsystem_" +
                       fmu_.setup().description.name + "_linearization false)");
  } else if (std::exchange(fmu_.use().directional, false)) {
    fmu_.tell(fmu_.instance().failure() + " at t = " + short_number(fmu_.now().t) +
              " s; its directional derivatives from before are used from here on");
  }
  result.f_x = last_.f_x;
  result.f_u = last_.f_u;
  result.g_x = last_.g_x;
  result.g_u = last_.g_u;
  return true;
}

bool FmuJacobians::follow(std::span<const Polynomial> inputs, std::span<double> y) {
  Linearization at;
  if (!find(at)) return false;
  const std::vector<double>& u = fmu_.now().u;
  for (std::size_t i = 0; i < y.size(); ++i)
    for (const std::size_t j : fmu_.inputs().places())
      y[i] += at.g_u[i * u.size() + j] * (inputs[j].c[0] - u[j]);
  return true;
}

/// The FMU may have other inputs, held in the middle of the last micro-step, from which f_u leads
/// to these.
bool FmuJacobians::derivatives(std::span<const Sample> inputs, std::span<double> result) {
  const FmuPorts& unknowns = fmu_.setup().derivatives;
  if (!fmu_.instance().get(unknowns, result)) return fmu_.failed_call();
  const std::vector<double>& u = fmu_.now().u;
  change_.assign(u.size(), 0.0);
  for (const std::size_t i : fmu_.inputs().places()) change_[i] = inputs[i].value - u[i];
  if (!fmu_.use().directional || all_zero(change_)) return true;
  correction_.resize(result.size());
  if (!fmu_.instance().directional(unknowns, fmu_.inputs(), change_, correction_)) return true;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += correction_[i];
  return true;
}

}  // namespace concord

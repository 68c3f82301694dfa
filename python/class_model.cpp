#include "class_model.hpp"

#include <array>
#include <utility>

namespace concord::python {

ClassModel::ClassModel(ClassCode code)
    : code_(std::move(code)),
      interface_(code_.interface()),
      derivatives_(code_.instance.attr("derivatives")),
      jacobians_(code_.instance.attr("jacobians")),
      output_places_(code_.instance.attr("output_places").cast<std::vector<std::size_t>>()) {}

void ClassModel::derivatives(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> dxdt) {
  if (derivatives_.is_none()) return;
  code_.guarded([&] {
    const auto given =
        ClassCode::call(derivatives_, py::float_(t), code_.states.of(x), code_.inputs.of(u));
    take_numbers(given, "derivatives", "states", dxdt);
  });
}

py::object ClassModel::outputs_there(double t, std::span<const double> x,
                                     std::span<const double> u) const {
  const py::float_ time(t);
  const py::object states = code_.states.of(x);
  return code_.outputs_take_inputs
             ? ClassCode::call(code_.outputs_at, time, states, code_.inputs.of(u))
             : ClassCode::call(code_.outputs_at, time, states);
}

void ClassModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                         std::span<double> y) {
  if (code_.outputs_at.is_none()) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[output_places_[i]];
    return;
  }
  code_.guarded([&] { take_numbers(outputs_there(t, x, u), "outputs_at", "outputs", y); });
}

bool ClassModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                           const Jacobians& result) {
  if (jacobians_.is_none()) return false;
  const std::array<std::pair<const char*, std::span<double>>, 4> parts = {
      {{"states' derivatives by states", result.f_x},
       {"states' derivatives by inputs", result.f_u},
       {"outputs by states", result.g_x},
       {"outputs by inputs", result.g_u}}};
  code_.guarded([&] {
    const py::tuple given =
        ClassCode::call(jacobians_, py::float_(t), code_.states.of(x), code_.inputs.of(u));
    if (given.size() != parts.size())
      throw SimulationError("jacobians() must give four matrices, f_x, f_u, g_x, g_u, and gave " +
                            std::to_string(given.size()));
    for (std::size_t i = 0; i < parts.size(); ++i)
      take_numbers(given[i], "jacobians", parts[i].first, parts[i].second);
  });
  return true;
}

bool ClassModel::set_parameter(std::size_t parameter, double value) {
  code_.guarded([&] { code_.instance.attr("set")(code_.tunable.at(parameter), value); });
  return true;
}

std::optional<double> ClassModel::parameter(std::size_t parameter) {
  std::optional<double> value;
  code_.guarded(
      [&] { value = code_.instance.attr("get")(code_.tunable.at(parameter)).cast<double>(); });
  return value;
}

}  // namespace concord::python

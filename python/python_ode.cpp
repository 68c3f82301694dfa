#include "python_ode.hpp"

#include <utility>

namespace concord::python {
namespace {

py::array_t<double> array_of(std::span<const double> values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace

PythonOde::PythonOde(std::shared_ptr<const PythonSubsystem> subsystem)
    : subsystem_(std::move(subsystem)) {
  for (std::size_t i = 0; i < subsystem_->parameters.size(); ++i)
    set_parameter(i, subsystem_->parameters[i]);
}

bool PythonOde::set_parameter(std::size_t parameter, double value) {
  parameters_[py::str(subsystem_->interface.parameters[parameter])] = value;
  return true;
}

std::optional<double> PythonOde::parameter(std::size_t parameter) {
  return parameters_[py::str(subsystem_->interface.parameters[parameter])].cast<double>();
}

void PythonOde::call(const py::function& function, const char* what, const char* whose, double t,
                     std::span<const double> x, std::span<const double> u,
                     std::span<double> result) const {
  call_code(std::string(what) + "() raised ", "",
            [&] { take_numbers(called(function, t, x, u), what, whose, result); });
}

py::object PythonOde::called(const py::function& function, double t, std::span<const double> x,
                             std::span<const double> u) const {
  if (subsystem_->parameters.empty()) return function(t, array_of(x), array_of(u));
  return function(t, array_of(x), array_of(u), parameters_);
}

}  // namespace concord::python

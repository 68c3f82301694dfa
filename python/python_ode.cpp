#include "python_ode.hpp"

#include <algorithm>

#include "concord/program.hpp"

namespace concord::python {
namespace {

/// "ZeroDivisionError: float division by zero (ball.py, line 12)"
std::string told(const py::error_already_set& error) {
  std::string text = py::str(error.type().attr("__name__"));
  const std::string message = py::str(error.value());
  text += message.empty() ? "" : ": " + message;
  py::object frame = error.trace() ? py::object(error.trace()) : py::object(py::none());
  if (frame.is_none()) return text;
  while (!frame.attr("tb_next").is_none()) frame = frame.attr("tb_next");
  const py::object code = frame.attr("tb_frame").attr("f_code");
  return text + " (" + std::string(py::str(code.attr("co_filename"))) + ", line " +
         std::string(py::str(frame.attr("tb_lineno"))) + ")";
}

/// What a smaller step may cure.
bool is_recoverable(const py::error_already_set& error) {
  return error.matches(PyExc_ArithmeticError) ||
         error.matches(py::module_::import("concord._errors").attr("RecoverableFailure"));
}

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

void PythonOde::call(const py::function& function, const char* what, double t,
                     std::span<const double> x, std::span<const double> u,
                     std::span<double> result) const {
  const CrashesEndProcess crashes_end_process;
  try {
    take(called(function, t, x, u), what, result);
  } catch (const py::error_already_set& error) {
    const std::string text = std::string(what) + "() raised " + told(error);
    Raised::keep(error, text);
    if (is_recoverable(error)) throw RecoverableFailure(text);
    throw SimulationError(text);
  }
}

py::object PythonOde::called(const py::function& function, double t, std::span<const double> x,
                             std::span<const double> u) const {
  if (subsystem_->parameters.empty()) return function(t, array_of(x), array_of(u));
  return function(t, array_of(x), array_of(u), parameters_);
}

void PythonOde::take(const py::object& given, const char* what, std::span<double> result) const {
  using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
  const auto numbers = given.is_none() ? Numbers() : Numbers::ensure(given);
  const bool are_numbers = numbers && !given.is_none();
  const auto size = are_numbers ? static_cast<std::size_t>(numbers.size()) : 0;
  if (!are_numbers || size != result.size()) {
    const std::string found =
        are_numbers ? std::to_string(size) + " numbers" : std::string(py::repr(given));
    throw SimulationError(std::string(what) + "() gave " + found + "; it must give " +
                          std::to_string(result.size()) + ", one for each of its " +
                          (what == std::string_view(outputs_word) ? "outputs" : "states"));
  }
  std::copy_n(numbers.data(), size, result.begin());
}

}  // namespace concord::python

#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "concord/ode_model.hpp"

namespace concord::python {

namespace py = pybind11;

/// What a subsystem's function has raised last, until the run that it ends is told in Python.
class Raised {
 public:
  static void keep(const py::error_already_set& error, const std::string& told) {
    kept() = {error.value(), told};
  }
  /// What was told in this message; else None, as a smaller step has cured it. Forgotten from here
  /// on.
  static py::object take(const std::string& message) {
    const auto [value, told] = std::exchange(kept(), {py::none(), ""});
    return !told.empty() && message.find(told) != message.npos ? value : py::none();
  }

 private:
  using Kept = std::pair<py::object, std::string>;
  static Kept& kept() {
    static auto* const one = new Kept;  // nothing frees Python's objects after the interpreter
    return *one;
  }
};

/// A subsystem whose f and g are Python functions of (t, x, u), or, with parameters, (t, x, u, p).
struct PythonSubsystem {
  std::string name;
  OdeInterface interface;
  py::function derivatives, outputs;
  std::vector<double> parameters;  ///< their values, in the interface's order
};

class PythonOde : public OdeModel {
 public:
  explicit PythonOde(std::shared_ptr<const PythonSubsystem> subsystem);

  OdeInterface interface() const override { return subsystem_->interface; }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    call(subsystem_->derivatives, "derivatives", t, x, u, dxdt);
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    call(subsystem_->outputs, outputs_word, t, x, u, y);
  }
  bool set_parameter(std::size_t parameter, double value) override;

 private:
  static constexpr const char* outputs_word = "output_values";  ///< the argument's name in Python
  void call(const py::function& function, const char* what, double t, std::span<const double> x,
            std::span<const double> u, std::span<double> result) const;
  py::object called(const py::function& function, double t, std::span<const double> x,
                    std::span<const double> u) const;
  void take(const py::object& given, const char* what, std::span<double> result) const;

  std::shared_ptr<const PythonSubsystem> subsystem_;
  py::dict parameters_;  ///< each subsystem's own
};

}  // namespace concord::python

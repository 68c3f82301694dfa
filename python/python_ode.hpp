#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "concord/errors.hpp"
#include "concord/ode_model.hpp"

namespace concord::python {

namespace py = pybind11;

/// What a subsystem's functions have raised, until the run that they end is told in Python.
class Raised {
 public:
  static void keep(const py::error_already_set& error) { value() = error.value(); }
  /// None where nothing was raised; forgotten from here on.
  static py::object take() {
    py::object taken = value() ? value() : py::none();
    value() = py::object();
    return taken;
  }

 private:
  static py::object& value() {
    static auto* const kept = new py::object;  // outlives the interpreter, which has freed it
    return *kept;
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
    call(subsystem_->outputs, "outputs", t, x, u, y);
  }
  bool set_parameter(std::size_t parameter, double value) override;

 private:
  void call(const py::function& function, const char* what, double t, std::span<const double> x,
            std::span<const double> u, std::span<double> result) const;
  py::object called(const py::function& function, double t, std::span<const double> x,
                    std::span<const double> u) const;
  void take(const py::object& given, const char* what, std::span<double> result) const;

  std::shared_ptr<const PythonSubsystem> subsystem_;
  py::dict parameters_;  ///< each subsystem's own
};

}  // namespace concord::python

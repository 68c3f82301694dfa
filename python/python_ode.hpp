#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calls.hpp"
#include "concord/ode_model.hpp"

namespace concord::python {

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
    call(subsystem_->derivatives, "derivatives", "states", t, x, u, dxdt);
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    call(subsystem_->outputs, "output_values", "outputs", t, x, u, y);
  }
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;

 private:
  void call(const py::function& function, const char* what, const char* whose, double t,
            std::span<const double> x, std::span<const double> u, std::span<double> result) const;
  py::object called(const py::function& function, double t, std::span<const double> x,
                    std::span<const double> u) const;

  std::shared_ptr<const PythonSubsystem> subsystem_;
  py::dict parameters_;  ///< each subsystem's own
};

}  // namespace concord::python

#pragma once

#include <vector>

#include "class_code.hpp"

namespace concord::python {

/// A class with derivatives(self, t, x, u), which Concord integrates.
class ClassModel : public OdeModel {
 public:
  explicit ClassModel(ClassCode code);

  OdeInterface interface() const override { return interface_; }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;

 private:
  py::object outputs_there(double t, std::span<const double> x, std::span<const double> u) const;

  ClassCode code_;
  OdeInterface interface_;
  py::object derivatives_, jacobians_;      ///< None where there are none
  std::vector<std::size_t> output_places_;  ///< among states, where there is no outputs_at()
};

}  // namespace concord::python

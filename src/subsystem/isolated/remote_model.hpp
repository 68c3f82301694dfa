#pragma once

#include "concord/ode_model.hpp"
#include "subsystem/isolated/remote_subsystem.hpp"

namespace concord {

/// The equations of a subsystem in another process.
class RemoteModel final : public OdeModel {
 public:
  explicit RemoteModel(RemoteSubsystem& remote);

  OdeInterface interface() const override { return interface_; }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  bool set_parameter(std::size_t parameter, double value) override;
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;
  bool time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                        const TimeDerivatives& result) override;
  bool output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt) override;
  bool output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2) override;

 private:
  template <class... Places>
  bool fill(MessageReader answer, Places... places);

  RemoteSubsystem& remote_;
  OdeInterface interface_;
};

}  // namespace concord

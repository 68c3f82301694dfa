#include "subsystem/isolated/remote_model.hpp"

namespace concord {

RemoteModel::RemoteModel(RemoteSubsystem& remote) : remote_(remote) {
  Archive written(remote_.call(RemoteFunction::model_interface).taken_list<std::byte>());
  pass(written, interface_);
}

/// Where the model says that it gives the values.
template <class... Places>
bool RemoteModel::fill(MessageReader answer, Places... places) {
  const bool given = answer.taken<bool>();
  if (given) answer.take(places...);
  return given;
}

void RemoteModel::derivatives(double t, std::span<const double> x, std::span<const double> u,
                              std::span<double> dxdt) {
  remote_.call(RemoteFunction::model_derivatives, t, x, u).take(dxdt);
}

void RemoteModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                          std::span<double> y) {
  remote_.call(RemoteFunction::model_outputs, t, x, u).take(y);
}

bool RemoteModel::set_parameter(std::size_t parameter, double value) {
  return remote_.call(RemoteFunction::model_set_parameter, parameter, value).taken<bool>();
}

bool RemoteModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                            const Jacobians& result) {
  return fill(remote_.call(RemoteFunction::model_jacobians, t, x, u), result.f_x, result.f_u,
              result.g_x, result.g_u);
}

bool RemoteModel::time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                                   const TimeDerivatives& result) {
  return fill(remote_.call(RemoteFunction::model_time_derivatives, t, x, u), result.f_t,
              result.g_t);
}

bool RemoteModel::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                const Motion& motion, std::span<double> dydt) {
  return fill(remote_.call(RemoteFunction::model_output_slopes, t, x, u, motion.dxdt, motion.dudt),
              dydt);
}

bool RemoteModel::output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                                    const InputMotion& motion, std::span<double> d2ydt2) {
  return fill(
      remote_.call(RemoteFunction::model_output_curvatures, t, x, u, motion.dudt, motion.d2udt2),
      d2ydt2);
}

}  // namespace concord

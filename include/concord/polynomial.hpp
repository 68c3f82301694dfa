#pragma once

#include <array>

#include "concord/api.hpp"

namespace concord CONCORD_API {

/// Value and time derivative of a signal at one communication point.
struct Sample {
  double value = 0.0;
  double derivative = 0.0;
};

/// A signal on one macro-step: c[0] + c[1] tau + c[2] tau^2 + c[3] tau^3, tau = t - t_N in [0,h].
struct Polynomial {
  std::array<double, 4> c{};

  double operator()(double tau) const { return c[0] + tau * (c[1] + tau * (c[2] + tau * c[3])); }
  double derivative(double tau) const { return c[1] + tau * (2.0 * c[2] + tau * 3.0 * c[3]); }
  Sample at(double tau) const { return {(*this)(tau), derivative(tau)}; }
  /// The same signal as a polynomial in tau - shift.
  Polynomial moved_to(double shift) const {
    return {{(*this)(shift), derivative(shift), c[2] + 3.0 * c[3] * shift, c[3]}};
  }
};

}  // namespace CONCORD_API

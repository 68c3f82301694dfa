#pragma once

#include <array>

#include "concord/api.hpp"

namespace concord CONCORD_API {

/// Value and first two time derivatives of a signal at one communication point. Only holds that end
/// with a curvature ask for the second one; elsewhere it means nothing.
struct Sample {
  using AllDoubles = void;  ///< for archives
  double value = 0.0;
  double derivative = 0.0;
  double curvature = 0.0;
};

/// A signal on one macro-step: c[0] + c[1] tau + ... + c[5] tau^5, tau = t - t_N in [0,h].
struct Polynomial {
  using AllDoubles = void;  ///< for archives
  std::array<double, 6> c{};

  double operator()(double tau) const {
    return c[0] + tau * (c[1] + tau * (c[2] + tau * (c[3] + tau * (c[4] + tau * c[5]))));
  }
  double derivative(double tau) const {
    return c[1] +
           tau * (2.0 * c[2] + tau * 3.0 * c[3] + tau * tau * (4.0 * c[4] + tau * 5.0 * c[5]));
  }
  double curvature(double tau) const {
    return 2.0 * c[2] + tau * (6.0 * c[3] + tau * (12.0 * c[4] + tau * 20.0 * c[5]));
  }
  Sample at(double tau) const { return {(*this)(tau), derivative(tau), curvature(tau)}; }
  /// The same signal as a polynomial in tau - shift.
  Polynomial moved_to(double shift) const {
    return {{(*this)(shift), derivative(shift),
             c[2] + shift * (3.0 * c[3] + shift * (6.0 * c[4] + shift * 10.0 * c[5])),
             c[3] + shift * (4.0 * c[4] + shift * 10.0 * c[5]), c[4] + shift * 5.0 * c[5], c[5]}};
  }
};

}  // namespace CONCORD_API

#pragma once

#include <Eigen/Core>
#include <vector>

#include "coupling/estimator_settings.hpp"

namespace concord {

/// What the response of x' = A x + B u(tau) + v(tau) over [0,h] is made of, u cubic or quintic and
/// v quadratic.
///
/// phi_k are the exponential integrator functions phi_0(z) = e^z, phi_k(z) = (phi_{k-1}(z) -
/// 1/(k-1)!)/z. Where hA is small all come from their series, else from one exponential of an
/// augmented matrix, so that a singular or stiff A needs no special case.
struct PhiMatrices {
  Eigen::MatrixXd constant;  ///< h phi_1(hA), n x n: response to a constant v
  Eigen::MatrixXd ramp;      ///< h phi_2(hA), n x n: response to v = (tau/h) times a vector
  Eigen::MatrixXd square;    ///< 2 h phi_3(hA), n x n: response to v = (tau/h)^2 times a vector
  /// p! h phi_{p+1}(hA) B for p = 1, 2, ..., degree, n x m each: response to u = (tau/h)^p.
  std::vector<Eigen::MatrixXd> power;

  /// `stehfest`: by numerical inversion of the Laplace transforms p! h (z - hA)^-1 / z^{p+1}
  /// (Stehfest 1970; Eguillon et al. 2022, (12)-(13)), good to about six digits where the response
  /// is smooth over h and to fewer where it is stiff or oscillates. `linear_implicit`: all of them
  /// replaced by h (I - hA)^-1, to which an input matters by its end value alone.
  void compute(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h,
               Response response = Response::expm, int degree = 3);

 private:
  void resize(Eigen::Index n, Eigen::Index m);
  void by_series(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);
  void by_exponential(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);
  void by_implicit_euler(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);
  void by_stehfest(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h);
};

/// e^{hA} and h phi_1(hA), n x n each: what is left of x over h, and what a constant x' adds.
void grown_and_summed(const Eigen::MatrixXd& a, double h, Eigen::MatrixXd& grown,
                      Eigen::MatrixXd& summed);

}  // namespace concord

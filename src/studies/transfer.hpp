#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <vector>

#include "simulation/linear_system.hpp"

namespace concord {

/// The same with states in sizes that make rows and columns of A, B and C of one magnitude.
StateSpace balanced(const StateSpace& system);

/// G(s) = C (s I - A)^-1 B + D of a linear system, [outputs, inputs]. A is brought to its
/// Schur form once, so that each s costs the square of the number of states.
class TransferFunction {
 public:
  explicit TransferFunction(const StateSpace& system);

  /// `s` in 1/s; not finite at a pole.
  Eigen::MatrixXcd operator()(std::complex<double> s) const;

 private:
  Eigen::MatrixXd t_, b_, c_, d_;
};

/// Finite zeros, 1/s, of a system with one input and one output. With r the relative degree they
/// are the eigenvalues of A - b c A^r / (c A^(r-1) b) on the states that no y, y', ... y^(r-1)
/// shows (zero dynamics; Isidori 1995, section 4.3). Nothing where no s gets through.
std::optional<Eigen::VectorXcd> zeros_of(const StateSpace& system);

/// Poles and zeros of one input and one output. Those that cancel each other are modes that the
/// input does not reach or the output does not show.
struct PolesAndZeros {
  std::vector<std::complex<double>> poles, zeros;  ///< 1/s, by falling real part
  std::vector<std::complex<double>> cancelled;     ///< left out of both
  bool passes = true;                              ///< false: the output does not hear the input
};
PolesAndZeros poles_and_zeros(const StateSpace& system);

/// Angular frequencies, rad/s, ascending, on which a response to these shows all it does: a decade
/// and more beyond all, and close around those with little damping.
std::vector<double> frequency_grid(const std::vector<std::complex<double>>& poles,
                                   const std::vector<std::complex<double>>& zeros);

/// Where a loop with return ratio L, closed where L = -1, crosses a magnitude or a phase.
struct Crossing {
  double frequency;  ///< rad/s
  double value;      ///< margin: a factor, or a phase in rad
};

struct LoopMargins {
  std::vector<Crossing> gain;   ///< factors on L with which it passes through -1
  std::vector<Crossing> phase;  ///< rad between L and -1 where |L| = 1
  std::optional<double> delay;  ///< s; the smallest that turns a positive phase margin to 0
  Crossing nearest;             ///< smallest |1 + L|; its inverse is the largest sensitivity
};
LoopMargins loop_margins(const StateSpace& return_ratio);

/// Response to an input that jumps from 0 to 1 at time 0.
struct StepCurve {
  std::vector<double> time, value;  ///< s, and in the unit of the output
};
/// Exact at its times. `until` in s; nothing: until the slowest decaying mode has come to 1e-3 of
/// itself, or the fastest growing one to 1e3.
StepCurve step_response(const StateSpace& system, std::optional<double> until);

}  // namespace concord

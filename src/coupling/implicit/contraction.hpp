#pragma once

#include <array>

#include "concord/archive.hpp"

namespace concord {

/// How far the last iterate of an iteration is from its limit, by what its residuals and steps have
/// done, where no Jacobian tells. All in units of the tolerance.
///
/// A fixed point U_{k+1} = U_k - R_k that contracts is off by the sum of all residuals to come:
/// where the last m residuals, whose sum is S, fell by q, by at most S q / (1 - q) more than the
/// last one. A loop through several subsystems contracts once in a turn, so that m counts, too. An
/// accelerated iteration steps further than its residuals: it is off by |R| times what its steps
/// were larger than the changes of residuals that they made.
///
/// What it was is expected for some macro-steps of about the same size.
class Contraction {
 public:
  /// A macro-step of size h begins: nothing is known but what is remembered.
  void expect(double h);
  /// The iteration has converged.
  void remember(double h);
  void forget();
  void io(Archive& archive) { CONCORD_MEMBERS(archive, remembered_, remembered_h_, age_); }

  void begin(double residual);
  /// After an iteration: the new residual, |U_k - U_{k-1}| and |R_k - R_{k-1}|.
  void add(double residual, double step, double change);

  /// The last residual over the one before; 0 before there are two.
  double last() const;

  /// Error of the last iterate over its residual; infinite where nothing is known or contracts.
  double amplification() const;

  /// Mean contraction per iteration over the last ones; 0 where nothing is known.
  double rate() const;

 private:
  static constexpr int length = 9;
  double residual(int back) const {
    return residuals_[static_cast<std::size_t>((count_ - 1 - back) % length)];
  }
  int known() const { return count_ < length ? count_ : length; }

  std::array<double, length> residuals_{};  ///< a ring
  std::array<double, length> secants_{};
  int count_ = 0;
  double remembered_ = 0.0;  ///< amplification; 0: none
  double remembered_h_ = 0.0;
  int age_ = 0;  ///< macro-steps since
};

}  // namespace concord

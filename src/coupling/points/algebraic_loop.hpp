#pragma once

#include <limits>

#include "coupling/points/loop_equations.hpp"
#include "coupling/points/loop_factors.hpp"
#include "support/callback_guard.hpp"
#include "support/petsc.hpp"

namespace concord {

/// Solves one algebraic loop at one point in time: Newton's method on u - P g(u) = 0, by a SNES of
/// its own on every rank that takes part (options prefix `loop_`), with the Jacobian I - P D of the
/// subsystems' linearisations and a backtracking line search. Unknowns and rows are scaled by the
/// sizes of the variables.
///
/// Solved: every row is at the rounding of its terms, or Newton's next correction, from a Jacobian
/// at the same point, is 1e-8 of its unknown; it is then applied, and leaves an error of its
/// square. The Jacobian is kept from one solve to the next as long as it contracts.
///
/// Slopes are linear in each other once the values are known: the same factors solve for them.
class AlgebraicLoop {
 public:
  AlgebraicLoop(RankNetwork& subsystems, const FeedthroughComponent& loop);

  /// In: a first guess of the inputs. Out: inputs and outputs of the loop's subsystems that fit
  /// each other. Where Newton's method fails from the guess, zeros in it are replaced by the
  /// variables' sizes, then the loop is closed little by little (u = (1 - s) u_0 + s P g(u)). On
  /// failure `failure()` says why; the same on all ranks that take part.
  bool solve_values(PointEvaluation& point, std::span<Sample> inputs, std::span<Sample> outputs);

  /// Of the values at hand, which `solve_values` has found.
  bool solve_slopes(PointEvaluation& point, std::span<Sample> inputs, std::span<Sample> outputs);

  bool here() const { return equations_.here(); }
  const std::string& failure() const { return failure_; }
  /// Whether guesses are near the solution; the Jacobian is not in it.
  void io(Archive& archive) { archive(started_); }

 private:
  static PetscErrorCode form_rows(SNES snes, Vec z, Vec f, void* self);
  static PetscErrorCode form_jacobian(SNES snes, Vec z, Mat, Mat, void* self);
  static PetscErrorCode test(SNES snes, PetscInt it, PetscReal xnorm, PetscReal snorm,
                             PetscReal fnorm, SNESConvergedReason* reason, void* self);
  static PetscErrorCode look_at_correction(SNESLineSearch search, Vec z, Vec y, PetscBool* changed,
                                           void* self);
  static PetscErrorCode apply_factors(PC pc, Vec b, Vec x);

  /// Rest of a row beside its terms that is their rounding.
  static constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  /// Newton's correction, relative to the unknown, whose square is nothing but rounding.
  static constexpr double last_correction_here = 1e-8;
  /// Contraction from which a kept Jacobian is renewed.
  static constexpr double poor_contraction = 0.1;
  /// What of a variable's size still counts where its value is near 0.
  static constexpr double near_zero = 1e-6;

  void create_solver();
  bool from_guess();
  bool from_elsewhere();
  bool little_by_little();
  bool attempt();
  bool begin_afresh();
  void choose_scales();
  bool linearize();
  bool run_newton();
  bool finish(SNESConvergedReason reason);
  bool rows_at(std::span<const Sample> u);
  bool at_rounding(double allowed) const;
  double terms(std::size_t row, double Sample::*part) const;
  void take_sizes_from_terms();
  double size_from_others(std::size_t row) const;
  void close_partly();
  bool slopes_at_rounding() const;
  double slope_noise() const;
  bool correct_slopes(double& worst);
  void explain();

  LoopEquations equations_;
  VecHandle unknown_, residual_;
  MatHandle jacobian_;
  SnesHandle snes_;
  CallbackGuard guard_;
  LoopFactors factors_;

  PointEvaluation* point_ = nullptr;
  std::span<Sample> inputs_, outputs_;
  Wanted wanted_ = Wanted::values;
  std::vector<Sample> guess_, u_, rows_, rows_at_guess_;
  std::vector<double> column_scale_, row_scale_;  ///< z = u / column scale, f = rows / row scale
  std::vector<double> values_, scaled_;           ///< of the Jacobian: as it is, and of f by z
  std::vector<double> correction_;                ///< Newton's last, of z
  double closed_ = 1.0;                           ///< s of `little_by_little`
  double last_correction_ = 0.0;
  bool started_ = false;
  bool jacobian_kept_ = false;  ///< from an earlier solve
  bool jacobian_here_ = false;  ///< belongs to the point of the iteration
  bool renew_ = false;
  bool corrected_ = false;  ///< the last correction is still to be applied
  bool singular_ = false;
  std::string failure_, reason_;
};

}  // namespace concord

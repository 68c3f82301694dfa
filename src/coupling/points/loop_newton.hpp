#pragma once

#include "coupling/points/loop_system.hpp"
#include "support/callback_guard.hpp"

namespace concord {

/// Newton's method on the values of one algebraic loop: a SNES of its own on every rank that takes
/// part (options prefix `loop_`), with a backtracking line search.
///
/// Solved: every row is at the rounding of its terms, or Newton's next correction, from a Jacobian
/// at the same point, is 1e-8 of its unknown; it is then applied, and leaves an error of its
/// square. The Jacobian is kept from one solve to the next as long as it contracts.
class LoopNewton {
 public:
  explicit LoopNewton(LoopSystem& system);

  /// From the system's u, by the kept Jacobian or by a new one with new scales; leaves u and rows
  /// at the solution. Why it has failed, or nothing.
  std::optional<std::string> solve();

  bool keeps_jacobian() const { return jacobian_.kept; }
  void drop_jacobian() { jacobian_.kept = false; }
  void keep_jacobian(bool kept) { jacobian_.kept = kept; }

 private:
  static PetscErrorCode form_rows(SNES snes, Vec z, Vec f, void* self);
  static PetscErrorCode form_jacobian(SNES snes, Vec z, Mat, Mat, void* self);
  static PetscErrorCode test(SNES snes, PetscInt it, PetscReal xnorm, PetscReal snorm,
                             PetscReal fnorm, SNESConvergedReason* reason, void* self);
  static PetscErrorCode look_at_correction(SNESLineSearch search, Vec z, Vec y, PetscBool* changed,
                                           void* self);
  static PetscErrorCode apply_factors(PC pc, Vec b, Vec x);

  struct Jacobian {
    bool kept = false;   ///< from an earlier solve
    bool here = false;   ///< belongs to the point of the iteration
    bool renew = false;  ///< contracts too little
  };
  struct Correction {  ///< Newton's last
    std::vector<double> z;
    double size = 0.0;  ///< relative to the unknowns, of the last that was applied
    bool left = false;  ///< still to be applied
    double take(Vec unknowns, Vec corrections);
  };

  void create_solver();
  std::optional<std::string> finish(SNESConvergedReason reason);
  void take_unknowns(Vec z);

  LoopSystem& system_;
  VecHandle unknown_, residual_;
  SnesHandle snes_;
  CallbackGuard guard_;
  Jacobian jacobian_;
  Correction correction_;
};

}  // namespace concord

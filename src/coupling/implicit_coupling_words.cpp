// What an implicit coupling says of itself.
#include <sstream>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {

std::string ImplicitCoupling::explain(const CouplingReport& report) {
  const auto failure = estimators_ ? estimators_->explain()
                                   : agree_on_text(subsystems_.comm(), subsystems_.failure());
  if (failure) {
    return *failure;
  }
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  SNESType type = nullptr;
  petsc(SNESGetConvergedReason(snes_, &reason));
  petsc(SNESGetType(snes_, &type));
  PetscReal last_norm = 0.0;
  petsc(SNESGetFunctionNorm(snes_, &last_norm));
  const bool diverged =
      reason == SNES_DIVERGED_DTOL || reason == SNES_DIVERGED_FNORM_NAN || last_norm > first_norm_;
  const bool fixed_point = std::string(type) == SNESNRICHARDSON;
  std::ostringstream how;
  how << (fixed_point ? "the fixed point" : type) << (diverged ? " diverges" : " does not converge")
      << " (" << SNESConvergedReasons[reason] << ", " << report.iterations
      << " iterations, residual " << report.residual << " times the tolerance)";
  std::string text = how.str();
  for (const auto& component : subsystems_.network().components()) {
    if (component.loop) {
      text += "; algebraic loop " + subsystems_.network().describe_loop(component);
    }
  }
  text += fixed_point ? "; use a Newton method: -cosim_type jfm (or -snes_type newtonls), or a "
                        "smaller -cosim_step"
                      : "; use a smaller -cosim_step, -cosim_adapt iteration, a larger "
                        "-cosim_max_it, or another -snes_type";
  return text;
}

void ImplicitCoupling::view() const {
  petsc(SNESView(snes_, PETSC_VIEWER_STDOUT_(subsystems_.comm())));
}

}  // namespace concord

// What an implicit coupling says of itself.
#include <cmath>
#include <optional>
#include <sstream>

#include "coupling/implicit_coupling.hpp"
#include "support/agreement.hpp"

namespace concord {

/// "residual 0.1 times the tolerance, error 20 times" and what contraction is left.
std::string ImplicitCoupling::describe_progress(const CouplingReport& report) const {
  std::ostringstream text;
  text << "residual " << report.residual << " times the tolerance";
  if (std::isfinite(error_) && error_ > report.residual) {
    text << ", error of the inputs " << error_ << " times";
  }
  const double rate = contraction_.rate();
  if (rate > 0.0 && rate < 1.0) {
    text << "; an iteration leaves " << rate << " of it";
  }
  return text.str();
}

std::string ImplicitCoupling::explain(const CouplingReport& report) {
  const auto failure = report.status != CouplingStatus::failed ? std::nullopt
                       : estimators_                           ? estimators_->explain()
                                     : agree_on_text(subsystems_.comm(), subsystems_.failure());
  if (failure) {
    const bool fatal = agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0;
    return *failure + (fatal ? "" : describe_guesses());
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
      << " (" << SNESConvergedReasons[reason] << ", " << report.iterations << " iterations, "
      << describe_progress(report) << ")" << describe_guesses();
  std::string text = how.str();
  for (const auto& component : subsystems_.network().components()) {
    if (component.loop) {
      text += "; algebraic loop " + subsystems_.network().describe_loop(component);
    }
  }
  text += fixed_point ? "; use a Newton method: -cosim_type jfm (or -snes_type newtonls), a larger "
                        "-cosim_max_it, or a smaller -cosim_step"
                      : "; use a smaller -cosim_step, -cosim_adapt iteration, a larger "
                        "-cosim_max_it, or another -snes_type";
  return text;
}

void ImplicitCoupling::view() const {
  petsc(SNESView(snes_, PETSC_VIEWER_STDOUT_(subsystems_.comm())));
}

}  // namespace concord

#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "subsystem/ode/cvode.hpp"

namespace concord {

namespace {

using sundials_handle::made;
using sundials_handle::require;

/// Adams-Moulton formulas of order 1 to 12 with functional iteration, by CVODE.
class CvodeAdams final : public Cvode {
 public:
  CvodeAdams(RightHandSide& rhs, Roots roots)
      : Cvode(rhs, CV_ADAMS, "cvode_adams", std::move(roots)) {
    solver_.reset(made(SUNNonlinSol_FixedPoint(states(), 0, context())));
    require(CVodeSetNonlinearSolver(native(), solver_.get()));
  }

 private:
  sundials_handle::NonlinearSolver solver_;
};

}  // namespace

std::unique_ptr<Integrator> make_cvode_adams(RightHandSide& rhs) {
  return std::make_unique<CvodeAdams>(rhs, Roots{});
}

std::unique_ptr<MicroSteps> make_adams_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<CvodeAdams>(rhs, std::move(roots));
}

}  // namespace concord

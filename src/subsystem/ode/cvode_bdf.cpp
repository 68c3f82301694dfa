#include "subsystem/ode/cvode.hpp"
#include "subsystem/ode/newton_solver.hpp"

namespace concord {

namespace {

using sundials_handle::require;

/// Newton's factors are renewed where the micro-step's size has changed by more than that: what
/// those of another size leave of a stiff state, within the tolerance, is in the slopes of outputs,
/// of which inputs are made, times the stiffness.
constexpr double bdf_kept_gamma = 1e-6;

/// Backward differentiation formulas of order 1 to 5 with a direct Newton iteration, by CVODE.
class CvodeBdf final : public Cvode {
 public:
  CvodeBdf(RightHandSide& rhs, Roots roots)
      : Cvode(rhs, CV_BDF, "cvode_bdf", std::move(roots)), solver_(rhs, states(), context()) {
    require(CVodeSetLinearSolver(native(), solver_.native(), solver_.matrix()));
    require(CVodeSetJacFn(native(), &CvodeBdf::state_jacobian));
    require(CVodeSetDeltaGammaMaxLSetup(native(), bdf_kept_gamma));
  }

 private:
  static int state_jacobian(sunrealtype time, N_Vector x, N_Vector f_at_x, SUNMatrix f_x,
                            void* self, N_Vector, N_Vector, N_Vector) {
    CvodeBdf& bdf = static_cast<CvodeBdf&>(*static_cast<Cvode*>(self));
    const std::size_t n = bdf.rhs_.state_count();
    return bdf.solver_.fill(bdf.rhs_, bdf.tau(time), {NV_DATA_S(x), n}, {NV_DATA_S(f_at_x), n},
                            f_x);
  }

  NewtonSolver solver_;
};

}  // namespace

std::unique_ptr<Integrator> make_cvode_bdf(RightHandSide& rhs) {
  return std::make_unique<CvodeBdf>(rhs, Roots{});
}

std::unique_ptr<MicroSteps> make_bdf_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<CvodeBdf>(rhs, std::move(roots));
}

}  // namespace concord

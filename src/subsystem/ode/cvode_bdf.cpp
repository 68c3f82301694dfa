#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "subsystem/ode/cvode.hpp"

namespace concord {

namespace {

using sundials_handle::made;
using sundials_handle::require;

/// Newton's factors are renewed where the micro-step's size has changed by more than that: what
/// those of another size leave of a stiff state, within the tolerance, is in the slopes of outputs,
/// of which inputs are made, times the stiffness.
constexpr double bdf_kept_gamma = 1e-6;

/// Backward differentiation formulas of order 1 to 5 with a dense direct Newton iteration, by
/// CVODE.
class CvodeBdf final : public Cvode {
 public:
  CvodeBdf(RightHandSide& rhs, Roots roots) : Cvode(rhs, CV_BDF, "cvode_bdf", std::move(roots)) {
    const auto n = static_cast<sunindextype>(rhs.state_count());
    jacobian_.reset(made(SUNDenseMatrix(n, n, context())));
    solver_.reset(made(SUNLinSol_Dense(states(), jacobian_.get(), context())));
    require(CVodeSetLinearSolver(native(), solver_.get(), jacobian_.get()));
    require(CVodeSetJacFn(native(), &CvodeBdf::state_jacobian));
    require(CVodeSetDeltaGammaMaxLSetup(native(), bdf_kept_gamma));
  }

 private:
  static int state_jacobian(sunrealtype time, N_Vector x, N_Vector f_at_x, SUNMatrix f_x,
                            void* self, N_Vector, N_Vector, N_Vector) {
    const CvodeBdf& bdf = static_cast<const CvodeBdf&>(*static_cast<Cvode*>(self));
    const std::size_t n = bdf.rhs_.state_count();
    return bdf.rhs_.state_jacobian(bdf.tau(time), {NV_DATA_S(x), n}, {NV_DATA_S(f_at_x), n},
                                   {SM_DATA_D(f_x), n * n});
  }

  sundials_handle::Matrix jacobian_;
  sundials_handle::LinearSolver solver_;
};

}  // namespace

std::unique_ptr<Integrator> make_cvode_bdf(RightHandSide& rhs) {
  return std::make_unique<CvodeBdf>(rhs, Roots{});
}

std::unique_ptr<MicroSteps> make_bdf_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<CvodeBdf>(rhs, std::move(roots));
}

}  // namespace concord

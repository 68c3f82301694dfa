#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "subsystem/ode/cvode.hpp"

namespace concord {

namespace {

/// Backward differentiation formulas of order 1 to 5 with a dense direct Newton iteration, by
/// CVODE.
class CvodeBdf final : public Cvode {
 public:
  CvodeBdf(RightHandSide& rhs, const SubsystemSettings& settings, Roots roots)
      : Cvode(rhs, settings, CV_BDF, "cvode_bdf", std::move(roots)),
        scale_(settings.tolerance.absolute / settings.tolerance.relative) {
    const auto n = static_cast<sunindextype>(rhs.state_count());
    jacobian_.reset(SUNDenseMatrix(n, n, context()));
    solver_.reset(SUNLinSol_Dense(states(), jacobian_.get(), context()));
    CVodeSetLinearSolver(native(), solver_.get(), jacobian_.get());
    CVodeSetJacFn(native(), &CvodeBdf::state_jacobian);
  }

 private:
  static int state_jacobian(realtype time, N_Vector x, N_Vector f_at_x, SUNMatrix f_x, void* self,
                            N_Vector, N_Vector, N_Vector) {
    const CvodeBdf& bdf = static_cast<const CvodeBdf&>(*static_cast<Cvode*>(self));
    const std::size_t n = bdf.rhs_.state_count();
    return bdf.rhs_.state_jacobian(bdf.tau(time), {NV_DATA_S(x), n}, {NV_DATA_S(f_at_x), n},
                                   bdf.scale_, {SM_DATA_D(f_x), n * n});
  }

  double scale_;
  sundials_handle::Matrix jacobian_;
  sundials_handle::LinearSolver solver_;
};

}  // namespace

std::unique_ptr<Integrator> make_cvode_bdf(RightHandSide& rhs, const SubsystemSettings& settings) {
  return std::make_unique<CvodeBdf>(rhs, settings, Roots{});
}

std::unique_ptr<MicroSteps> make_bdf_micro_steps(RightHandSide& rhs,
                                                 const SubsystemSettings& settings, Roots roots) {
  return std::make_unique<CvodeBdf>(rhs, settings, std::move(roots));
}

}  // namespace concord

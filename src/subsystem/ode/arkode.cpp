#include "subsystem/ode/arkode.hpp"

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "subsystem/ode/error_ratio.hpp"
#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/newton_solver.hpp"

namespace concord {

Arkode::Arkode(RightHandSide& rhs, Driver driver, Roots roots)
    : rhs_(rhs),
      driver_(std::move(driver)),
      roots_(std::move(roots)),
      context_(sundials_handle::make_context()) {
  const auto length = static_cast<sunindextype>(std::max<std::size_t>(rhs.state_count(), 1));
  x_.reset(sundials_handle::made(N_VNew_Serial(length, context_.get())));
  sundials_handle::require(N_VEnableFusedOps_Serial(x_.get(), SUNTRUE));
  N_VConst(0.0, x_.get());
}

/// The vectors of a model without states have one entry, which stays 0.
int Arkode::evaluate(sunrealtype tau, N_Vector x, N_Vector dxdt, void* self) {
  Arkode& own = *static_cast<Arkode*>(self);
  if (own.x().empty()) N_VConst(0.0, dxdt);
  return own.rhs_.evaluate(tau, view(own, x), view(own, dxdt));
}

int Arkode::weigh(N_Vector x, N_Vector weights, void* self) {
  Arkode& own = *static_cast<Arkode*>(self);
  if (own.x().empty()) N_VConst(1.0, weights);
  own.rhs_.weights().weigh(view(own, x), own.multiple_of_tolerance(), view(own, weights));
  return 0;
}

int Arkode::find_roots(sunrealtype tau, N_Vector x, sunrealtype* z, void* self) {
  Arkode& own = *static_cast<Arkode*>(self);
  return own.roots_.evaluate(tau, view(own, x), {z, own.roots_.count});
}

int Arkode::adapt(N_Vector /*x*/, sunrealtype /*tau*/, sunrealtype size, sunrealtype, sunrealtype,
                  sunrealtype error, sunrealtype, sunrealtype, int /*q*/, int p,
                  sunrealtype* optimal, void* self) {
  *optimal = static_cast<Arkode*>(self)->driver_.adapt(size, error, p);
  return 0;
}

int Arkode::after_step(sunrealtype tau, N_Vector x, void* self) {
  Arkode& arkode = *static_cast<Arkode*>(self);
  arkode.driver_.accepted(tau);
  arkode.rhs_.path_reaches(tau, view(arkode, x));
  return 0;
}

std::string explain_arkode(int code, double size) {
  const std::string with_step = " with step " + in_words(size) + " s";
  switch (code) {
    case ARK_TOO_MUCH_WORK:
      return "the macro-step needs too many micro-steps";
    case ARK_TOO_MUCH_ACC:
      return "the tolerances are below rounding errors";
    case ARK_ERR_FAILURE:
      return "the error test failed too often" + with_step;
    case ARK_CONV_FAILURE:
    case ARK_NLS_SETUP_FAIL:
    case ARK_NLS_OP_ERR:
      return "Newton's method did not converge" + with_step;
    default:
      return "ARKODE returned " + std::to_string(code) + with_step;
  }
}

namespace {

using sundials_handle::ButcherTable;
using sundials_handle::made;
using sundials_handle::require;

/// The very first micro-step is like all others: ARKODE would let the next one be 10^4 times as
/// large.
class ExplicitPair final : public Arkode {
 public:
  ExplicitPair(RightHandSide& rhs, Roots roots) : Arkode(rhs, {}, std::move(roots)) {
    memory_.reset(made(ERKStepCreate(&Arkode::evaluate, 0.0, vector(), context())));
    void* const erk = memory_.get();
    require(ERKStepSetUserData(erk, static_cast<Arkode*>(this)));
    require(sundials_handle::silence_erkstep(erk));
    require(ERKStepSetTableNum(erk, ARKODE_DORMAND_PRINCE_7_4_5));
    require(ERKStepWFtolerances(erk, &Arkode::weigh));
    require(ERKStepSetMaxNumSteps(erk, max_micro_steps));
    require(ERKStepSetMaxErrTestFails(erk, 20));
    require(ERKStepSetMaxHnilWarns(erk, 0));
    require(ERKStepSetAdaptivityMethod(erk, ARK_ADAPT_I, 1, 0, nullptr));  // without a memory
    require(ERKStepSetMaxFirstGrowth(erk, largest_growth));
    if (root_count() == 0) return;
    require(ERKStepRootInit(erk, static_cast<int>(root_count()), &Arkode::find_roots));
    require(ERKStepSetNoInactiveRootWarn(erk));
  }

  const char* name() const override { return "erk"; }

  void begin(double tau, double first_size, double smallest_size) override {
    require(ERKStepReset(memory_.get(), tau, vector()));
    require(ERKStepSetInitStep(memory_.get(), first_size));
    require(ERKStepSetMinStep(memory_.get(), smallest_size));
  }
  void limit_next_size(double size) override { require(ERKStepSetInitStep(memory_.get(), size)); }
  int evolve(double end, double& tau, int task) override {
    require(ERKStepSetStopTime(memory_.get(), end));
    return ERKStepEvolve(memory_.get(), end, vector(), &tau, task);
  }
  double current_size() const override {
    double size = 0.0;
    require(ERKStepGetCurrentStep(memory_.get(), &size));
    return size;
  }

 private:
  sundials_handle::ErkStepMemory memory_;
};

/// Newton's iteration ends at this fraction of the error that a micro-step may have: slopes of
/// stages are differences of their values.
constexpr double newton_fraction = 1.0 / 64.0;

/// Factors are renewed where the micro-step's size has changed by more than rounding: those of
/// another size would make Newton's iteration slow, and its end uncertain.
constexpr double kept_gamma = 1e-12;

/// Measured on linear relaxations of 1e4 to 1e12, a hard spring, van der Pol and Robertson: its
/// stages are of order 2, without which a hard spring costs SDIRK 4(3) of Hairer and Wanner 4600
/// times as much; pairs of order 5 win below rtol 1e-9 only.
class ImplicitPair final : public Arkode {
 public:
  ImplicitPair(RightHandSide& rhs, Driver driver, Roots roots)
      : Arkode(rhs, std::move(driver), std::move(roots)) {
    error_.reset(made(N_VClone(vector())));
    memory_.reset(made(ARKStepCreate(nullptr, &Arkode::evaluate, 0.0, vector(), context())));
    void* const ark = memory_.get();
    require(ARKStepSetUserData(ark, static_cast<Arkode*>(this)));
    require(sundials_handle::silence_arkstep(ark));
    require(ARKStepSetTableNum(ark, ARKODE_ESDIRK43I6L2SA_6_3_4, ARKODE_ERK_NONE));
    require(ARKStepWFtolerances(ark, &Arkode::weigh));
    require(ARKStepSetMaxNumSteps(ark, max_micro_steps));
    require(ARKStepSetMaxErrTestFails(ark, 20));
    require(ARKStepSetMaxConvFails(ark, 20));
    require(ARKStepSetMaxFirstGrowth(ark, largest_growth));
    require(ARKStepSetMaxHnilWarns(ark, 0));
    attach_solver();
    if (adapts())
      choose_sizes();
    else
      require(ARKStepSetAdaptivityMethod(ark, ARK_ADAPT_I, 1, 0, nullptr));
    if (root_count() == 0) return;
    require(ARKStepRootInit(ark, static_cast<int>(root_count()), &Arkode::find_roots));
    require(ARKStepSetNoInactiveRootWarn(ark));
  }

  const char* name() const override { return "dirk"; }

  /// ARKStepReset would keep Jacobian and factors.
  void begin(double tau, double first_size, double smallest_size) override {
    require(ARKStepReInit(memory_.get(), nullptr, &Arkode::evaluate, tau, vector()));
    require(ARKStepSetNonlinConvCoef(memory_.get(), newton_fraction / multiple_of_tolerance()));
    require(ARKStepSetInitStep(memory_.get(), first_size));
    require(ARKStepSetMinStep(memory_.get(), smallest_size));
  }
  void limit_next_size(double size) override { require(ARKStepSetInitStep(memory_.get(), size)); }
  std::span<const double> error() override {
    require(ARKStepGetEstLocalErrors(memory_.get(), error_.get()));
    return view(*this, error_.get());
  }
  double error_ratio() const override {
    static const double ratio = concord::error_ratio(
        *made(ButcherTable(ARKodeButcherTable_LoadDIRK(ARKODE_ESDIRK43I6L2SA_6_3_4)).get()));
    return ratio;
  }
  int evolve(double end, double& tau, int task) override {
    require(ARKStepSetStopTime(memory_.get(), end));
    return ARKStepEvolve(memory_.get(), end, vector(), &tau, task);
  }
  double current_size() const override {
    double size = 0.0;
    require(ARKStepGetCurrentStep(memory_.get(), &size));
    return size;
  }

 private:
  static int state_jacobian(sunrealtype tau, N_Vector x, N_Vector f_at_x, SUNMatrix f_x, void* self,
                            N_Vector, N_Vector, N_Vector) {
    auto& own = static_cast<ImplicitPair&>(*static_cast<Arkode*>(self));
    return own.solver_->fill(own.rhs(), tau, view(own, x), view(own, f_at_x), f_x);
  }

  /// Slopes of stages follow from the stages: where f is steep, rounding of x would spoil f(x).
  void attach_solver() {
    void* const ark = memory_.get();
    solver_.emplace(rhs(), vector(), context());
    require(ARKStepSetLinearSolver(ark, solver_->native(), solver_->matrix()));
    require(ARKStepSetJacFn(ark, &ImplicitPair::state_jacobian));
    require(ARKStepSetDeduceImplicitRhs(ark, SUNTRUE));
    require(ARKStepSetDeltaGammaMax(ark, kept_gamma));
  }

  void choose_sizes() {
    void* const ark = memory_.get();
    require(ARKStepSetInterpolantDegree(ark, 1));
    require(ARKStepSetAdaptivityFn(ark, &Arkode::adapt, static_cast<Arkode*>(this)));
    require(ARKStepSetSafetyFactor(ark, safety));
    require(ARKStepSetMaxGrowth(ark, largest_growth));
    require(ARKStepSetPostprocessStepFn(ark, &Arkode::after_step));
  }

  sundials_handle::Vector error_;
  std::optional<NewtonSolver> solver_;
  sundials_handle::ArkStepMemory memory_;
};

}  // namespace

std::unique_ptr<Arkode> make_explicit_arkode(RightHandSide& rhs, Roots roots) {
  return std::make_unique<ExplicitPair>(rhs, std::move(roots));
}

std::unique_ptr<Arkode> make_implicit_arkode(RightHandSide& rhs, Arkode::Driver driver,
                                             Roots roots) {
  return std::make_unique<ImplicitPair>(rhs, std::move(driver), std::move(roots));
}

std::unique_ptr<OneStepPair> make_implicit_steps(RightHandSide& rhs, OneStepPair::Driver driver) {
  return make_implicit_arkode(rhs, std::move(driver), Roots{});
}

}  // namespace concord

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "subsystem/ode/integrator.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

namespace {

std::span<const double> view(N_Vector v) {
  return {NV_DATA_S(v), static_cast<std::size_t>(NV_LENGTH_S(v))};
}
std::span<double> mutable_view(N_Vector v) {
  return {NV_DATA_S(v), static_cast<std::size_t>(NV_LENGTH_S(v))};
}

constexpr double largest_growth = 20.0;

/// ARKODE's safety factor: its micro-steps are this fraction of what the controller proposes.
constexpr double safety = 0.96;

/// Trials after a rollback keep the first trial's micro-steps while their error stays below this
/// multiple of the tolerance.
constexpr double replay_slack = 10.0;

/// Explicit embedded Runge-Kutta pairs by ARKODE: Dormand and Prince (1980), 5(4); for rtol below
/// 1e-9 Verner (1978), 6(5).
///
/// Reset at each macro-step. The first micro-step is what the controller proposed last, so that a
/// macro-step which the tolerance allows costs one micro-step. The controller remembers nothing
/// else.
///
/// After a rollback the same macro-step is integrated with the same micro-steps, so that what an
/// iterative coupling sees is a smooth function of the inputs and not the controller's decisions
/// (internal numerical differentiation, Bock 1981).
class Erk final : public Integrator {
 public:
  explicit Erk(RightHandSide& rhs);

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override;
  double reached() const override { return reached_; }
  void save() override {
    saved_proposal_ = proposal_;
    plan_h_ = 0.0;
    saved_ = true;
    restored_ = false;
  }
  void restore() override {
    proposal_ = saved_proposal_;
    restored_ = true;
  }

 private:
  static int evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self);
  static int adapt(N_Vector x, realtype tau, realtype size, realtype, realtype, realtype error,
                   realtype, realtype, int q, int p, realtype* optimal, void* self);
  static int weigh(N_Vector x, N_Vector weights, void* self);
  static int after_step(realtype tau, N_Vector x, void* self);
  static void ignore_message(int, const char*, const char*, char*, void*) {}
  int evolve(double h);
  int try_macro_step(double h, std::span<const double> x_begin);
  void plan_accepted_sizes();
  bool retry_smaller(double h);

  sundials_handle::Context context_;
  sundials_handle::Vector x_;
  sundials_handle::ErkStepMemory memory_;
  double proposal_ = 0.0;  ///< size of the next micro-step; 0: unknown
  double saved_proposal_ = 0.0;
  double reached_ = 0.0;
  double optimal_ = 0.0;                   ///< the controller's size after the last attempt
  double next_ = 0.0, next_before_ = 0.0;  ///< that after the last two accepted micro-steps
  long steps_ = 0;                         ///< in this macro-step

  std::vector<double> sizes_;  ///< of this macro-step's micro-steps
  std::vector<double> plan_;   ///< the controller's answers, one per micro-step
  double plan_first_ = 0.0;    ///< size of the first micro-step
  bool saved_ = false;         ///< at the macro-step that follows or before: rollback is in use
  bool restored_ = false;      ///< since the last save
  double plan_h_ = 0.0;        ///< macro-step that the plan is for; 0: none since save()
  bool replaying_ = false;
  std::size_t cursor_ = 0;
  int flag_ = ARK_SUCCESS;
};

/// Measured on a driven pendulum, h = 1e-3 to 1 s, rtol = 1e-4 to 1e-12. Where one micro-step
/// suffices Dormand-Prince and Cash-Karp cost 6 or 7 evaluations of f, Verner 9, Fehlberg 8(7) 14;
/// pairs of order 3 and 4 are cheaper but soon need several. With many micro-steps Cash-Karp takes
/// 0.75 of Dormand-Prince's evaluations for twice its error, and Verner wins below 1e-9 (by 1.3 at
/// 1e-10, 1.6 at 1e-12). Dormand-Prince it is, because its last stage is the new point: where f
/// fails there, the micro-step can still be made smaller.
ARKODE_ERKTableID table_for(double rtol) {
  return rtol < 0.999e-9 ? ARKODE_VERNER_8_5_6 : ARKODE_DORMAND_PRINCE_7_4_5;
}

Erk::Erk(RightHandSide& rhs) : Integrator(rhs), context_(sundials_handle::make_context()) {
  x_.reset(N_VNew_Serial(static_cast<sunindextype>(rhs.state_count()), context_.get()));
  N_VEnableFusedOps_Serial(x_.get(), SUNTRUE);
  N_VConst(0.0, x_.get());
  memory_.reset(ERKStepCreate(&Erk::evaluate, 0.0, x_.get(), context_.get()));
  void* const erk = memory_.get();
  ERKStepSetUserData(erk, this);
  ERKStepSetErrHandlerFn(erk, &Erk::ignore_message, nullptr);
  ERKStepSetTableNum(erk, table_for(rhs.weights().tolerance().relative));
  ERKStepWFtolerances(erk, &Erk::weigh);
  ERKStepSetInterpolantDegree(erk, 1);
  ERKStepSetMaxNumSteps(erk, max_micro_steps);
  ERKStepSetMaxErrTestFails(erk, 20);
  ERKStepSetMaxHnilWarns(erk, 0);
  ERKStepSetAdaptivityFn(erk, &Erk::adapt, this);
  ERKStepSetSafetyFactor(erk, safety);
  ERKStepSetMaxGrowth(erk, largest_growth);
  ERKStepSetMaxFirstGrowth(erk, largest_growth);
  ERKStepSetPostprocessStepFn(erk, &Erk::after_step);
}

int Erk::evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self) {
  return static_cast<Erk*>(self)->rhs_.evaluate(tau, view(x), mutable_view(dxdt));
}

/// The I controller: error, in units of the tolerance, grows with size^(p+1). The last micro-step
/// is cut short by the macro-step's end, so that what it proposes may be less than what the one
/// before did.
int Erk::adapt(N_Vector /*x*/, realtype /*tau*/, realtype size, realtype, realtype, realtype error,
               realtype, realtype, int /*q*/, int p, realtype* optimal, void* self) {
  Erk& erk = *static_cast<Erk*>(self);
  if (erk.replaying_ && erk.cursor_ < erk.plan_.size()) {
    *optimal = erk.plan_[erk.cursor_++];
  } else {
    const double growth = std::pow(std::max(error, 1e-10), -1.0 / (p + 1));
    *optimal = size * std::min(growth, largest_growth);
  }
  if (!erk.replaying_) erk.plan_.push_back(*optimal);
  erk.optimal_ = *optimal;
  return 0;
}

int Erk::weigh(N_Vector x, N_Vector weights, void* self) {
  const Erk& erk = *static_cast<Erk*>(self);
  erk.rhs_.weights().weigh(view(x), erk.replaying_ ? replay_slack : 1.0, mutable_view(weights));
  return 0;
}

int Erk::after_step(realtype tau, N_Vector /*x*/, void* self) {
  Erk& erk = *static_cast<Erk*>(self);
  erk.next_before_ = std::exchange(erk.next_, erk.optimal_);
  erk.sizes_.push_back(tau - erk.reached_);
  erk.reached_ = tau;
  ++erk.steps_;
  return 0;
}

Outcome Erk::integrate(double h, History /*history*/, std::span<const double> x_begin,
                       std::span<double> x_end) {
  replaying_ = restored_ && plan_h_ == h;
  if (!(proposal_ > 0.0)) proposal_ = h;
  const double first = proposal_;
  flag_ = try_macro_step(h, x_begin);
  if (saved_ && !replaying_ && flag_ >= 0) {
    plan_first_ = first;
    plan_h_ = h;
    const bool some_rejected = plan_.size() > sizes_.size();
    if (some_rejected) {
      plan_accepted_sizes();
      replaying_ = true;
      flag_ = try_macro_step(h, x_begin);
    }
  }
  rhs_.rethrow();
  if (flag_ < 0) return Outcome::failed;
  proposal_ = std::max(next_, next_before_);
  std::copy_n(NV_DATA_S(x_.get()), x_end.size(), x_end.begin());
  return Outcome::ok;
}

int Erk::try_macro_step(double h, std::span<const double> x_begin) {
  std::copy(x_begin.begin(), x_begin.end(), NV_DATA_S(x_.get()));
  reached_ = next_ = next_before_ = 0.0;
  steps_ = 0;
  cursor_ = 0;
  sizes_.clear();
  if (replaying_)
    proposal_ = plan_first_;
  else
    plan_.clear();
  int flag = ARK_SUCCESS;
  do {
    flag = evolve(h);
  } while (flag < 0 && retry_smaller(h));
  micro_steps_ += steps_;
  return flag;
}

/// Attempts were rejected: a plan of the accepted ones alone.
void Erk::plan_accepted_sizes() {
  plan_first_ = sizes_.front();
  plan_.clear();
  for (std::size_t i = 1; i < sizes_.size(); ++i) plan_.push_back(sizes_[i] / safety);
  plan_.push_back(std::max(next_, next_before_));
}

int Erk::evolve(double h) {
  void* const erk = memory_.get();
  double tau = reached_;
  ERKStepReset(erk, reached_, x_.get());
  ERKStepSetInitStep(erk, std::min(proposal_, h - reached_));
  ERKStepSetStopTime(erk, h);
  ERKStepSetMinStep(erk, smallest_micro_step * h);
  return ERKStepEvolve(erk, h, x_.get(), &tau, ARK_NORMAL);
}

/// ERKStep gives up where f fails in a stage; the state is that after the last accepted micro-step.
bool Erk::retry_smaller(double h) {
  if (!rhs_.last_failed() || steps_ >= max_micro_steps) return false;
  proposal_ = 0.25 * (rhs_.failed_tau() - reached_);
  return proposal_ > smallest_micro_step * h;
}

std::string Erk::failure() const {
  double size = 0.0;
  ERKStepGetCurrentStep(memory_.get(), &size);
  const std::string with_step = " with step " + in_words(size) + " s";
  switch (flag_) {
    case ARK_TOO_MUCH_WORK:
      return integration_failure("erk", rhs_, "the macro-step needs too many micro-steps",
                                 reached_);
    case ARK_TOO_MUCH_ACC:
      return integration_failure("erk", rhs_, "the tolerances are below rounding errors", reached_);
    case ARK_ERR_FAILURE:
      return integration_failure("erk", rhs_, "the error test failed too often" + with_step,
                                 reached_);
    default:
      return integration_failure("erk", rhs_,
                                 "ARKODE returned " + std::to_string(flag_) + with_step, reached_);
  }
}

}  // namespace

std::unique_ptr<Integrator> make_erk(RightHandSide& rhs) { return std::make_unique<Erk>(rhs); }

}  // namespace concord

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>

#include <algorithm>

#include "subsystem/ode/micro_steps.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

namespace {

/// Dormand and Prince (1980), 5(4), by ARKODE, whose root finding works on a Hermite interpolant.
class ErkMicroSteps final : public MicroSteps {
 public:
  ErkMicroSteps(RightHandSide& rhs, Roots roots);

  void begin(double h, History /*history*/, std::span<const double> x) override {
    h_ = h;
    restart(0.0, x);
  }
  void restart(double tau, std::span<const double> x) override {
    tau_ = tau;
    std::copy(x.begin(), x.end(), NV_DATA_S(x_.get()));
    reset();
  }
  End step(double end, double& tau, std::span<double> x) override;
  std::string failure() const override {
    return integration_failure("erk with events", rhs_, "ARKODE returned " + std::to_string(flag_),
                               tau_);
  }
  void save() override { saved_size_ = size_; }
  void restore() override { size_ = saved_size_; }

 private:
  static int evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self);
  static int weigh(N_Vector x, N_Vector weights, void* self);
  static int find_roots(realtype tau, N_Vector x, realtype* z, void* self);
  static void ignore_message(int, const char*, const char*, char*, void*) {}
  void reset();
  bool retry_smaller();

  RightHandSide& rhs_;
  Roots roots_;
  sundials_handle::Context context_;
  sundials_handle::Vector x_;
  sundials_handle::ErkStepMemory memory_;
  std::size_t n_;  ///< states; the vector has one entry at least
  double h_ = 1.0;
  double tau_ = 0.0;
  double size_ = 0.0, saved_size_ = 0.0;  ///< what the controller proposes next; 0: unknown
  int flag_ = ARK_SUCCESS;
};

ErkMicroSteps::ErkMicroSteps(RightHandSide& rhs, Roots roots)
    : rhs_(rhs),
      roots_(std::move(roots)),
      context_(sundials_handle::make_context()),
      n_(rhs.state_count()) {
  const auto length = static_cast<sunindextype>(std::max<std::size_t>(n_, 1));
  x_.reset(N_VNew_Serial(length, context_.get()));
  N_VConst(0.0, x_.get());
  memory_.reset(ERKStepCreate(&ErkMicroSteps::evaluate, 0.0, x_.get(), context_.get()));
  void* const erk = memory_.get();
  ERKStepSetUserData(erk, this);
  ERKStepSetErrHandlerFn(erk, &ErkMicroSteps::ignore_message, nullptr);
  ERKStepSetTableNum(erk, ARKODE_DORMAND_PRINCE_7_4_5);
  ERKStepSetAdaptivityMethod(erk, ARK_ADAPT_I, 1, 0, nullptr);  // without a memory
  ERKStepWFtolerances(erk, &ErkMicroSteps::weigh);
  ERKStepSetMaxNumSteps(erk, max_micro_steps);
  ERKStepSetMaxErrTestFails(erk, 20);
  ERKStepSetMaxHnilWarns(erk, 0);
  if (roots_.count == 0) return;
  ERKStepRootInit(erk, static_cast<int>(roots_.count), &ErkMicroSteps::find_roots);
  ERKStepSetNoInactiveRootWarn(erk);
}

int ErkMicroSteps::evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self) {
  auto& own = *static_cast<ErkMicroSteps*>(self);
  N_VConst(0.0, dxdt);
  return own.rhs_.evaluate(tau, {NV_DATA_S(x), own.n_}, {NV_DATA_S(dxdt), own.n_});
}

int ErkMicroSteps::weigh(N_Vector x, N_Vector weights, void* self) {
  const auto& own = *static_cast<ErkMicroSteps*>(self);
  N_VConst(1.0, weights);
  own.rhs_.weights().weigh({NV_DATA_S(x), own.n_}, 1.0, {NV_DATA_S(weights), own.n_});
  return 0;
}

int ErkMicroSteps::find_roots(realtype tau, N_Vector x, realtype* z, void* self) {
  const auto& own = *static_cast<ErkMicroSteps*>(self);
  return own.roots_.evaluate(tau, {NV_DATA_S(x), own.n_}, {z, own.roots_.count});
}

void ErkMicroSteps::reset() {
  ERKStepReset(memory_.get(), tau_, x_.get());
  ERKStepSetInitStep(memory_.get(), size_);
  ERKStepSetMinStep(memory_.get(), smallest_micro_step * h_);
}

MicroSteps::End ErkMicroSteps::step(double end, double& tau, std::span<double> x) {
  void* const erk = memory_.get();
  double reached = tau_;
  do {
    ERKStepSetStopTime(erk, end);
    if (size_ > end - tau_) ERKStepSetInitStep(erk, end - tau_);
    flag_ = ERKStepEvolve(erk, end, x_.get(), &reached, ARK_ONE_STEP);
  } while (flag_ < 0 && retry_smaller());
  if (flag_ < 0) return End::failed;
  tau = tau_ = reached;
  std::copy_n(NV_DATA_S(x_.get()), n_, x.begin());
  double next = 0.0;
  ERKStepGetCurrentStep(erk, &next);
  const bool cut_short = flag_ == ARK_TSTOP_RETURN || flag_ == ARK_ROOT_RETURN;
  size_ = cut_short ? std::max(next, size_) : next;
  return flag_ == ARK_ROOT_RETURN ? End::root : End::usual;
}

/// ERKStep gives up where f fails in a stage.
bool ErkMicroSteps::retry_smaller() {
  if (!rhs_.last_failed()) return false;
  size_ = 0.25 * (rhs_.failed_tau() - tau_);
  if (!(size_ > smallest_micro_step * h_)) return false;
  reset();
  return true;
}

}  // namespace

std::unique_ptr<MicroSteps> make_erk_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<ErkMicroSteps>(rhs, std::move(roots));
}

}  // namespace concord

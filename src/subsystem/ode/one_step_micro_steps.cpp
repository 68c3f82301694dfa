#include <algorithm>

#include "subsystem/ode/arkode.hpp"
#include "subsystem/ode/micro_steps.hpp"

namespace concord {

namespace {

/// Embedded Runge-Kutta pairs by ARKODE, whose root finding works on a Hermite interpolant.
class OneStepMicroSteps final : public MicroSteps {
 public:
  OneStepMicroSteps(RightHandSide& rhs, std::unique_ptr<Arkode> method)
      : rhs_(rhs), method_(std::move(method)) {}

  void begin(double h, History /*history*/, std::span<const double> x) override {
    h_ = h;
    restart(0.0, x);
  }
  void restart(double tau, std::span<const double> x) override {
    tau_ = tau;
    std::copy(x.begin(), x.end(), method_->x().begin());
    begin_method();
  }
  void leave_behind() override { begin_method(); }
  End step(double end, double& tau, std::span<double> x) override;
  std::string failure() const override {
    return integration_failure(method_->name(), rhs_, method_->explain(flag_), tau_);
  }
  void save() override { saved_ = now_; }
  void restore() override { now_ = saved_; }
  void pass_course(Archive& archive) override { CONCORD_MEMBERS(archive, now_.size); }

 private:
  struct Memory {
    double size = 0.0;  ///< what the controller proposes next; 0: unknown
  };

  void begin_method() { method_->begin(tau_, now_.size, smallest_micro_step * h_); }
  bool retry_smaller();

  RightHandSide& rhs_;
  std::unique_ptr<Arkode> method_;
  double h_ = 1.0;
  double tau_ = 0.0;
  Memory now_, saved_;
  int flag_ = ARK_SUCCESS;
};

MicroSteps::End OneStepMicroSteps::step(double end, double& tau, std::span<double> x) {
  double reached = tau_;
  do {
    if (now_.size > end - tau_) method_->limit_next_size(end - tau_);
    flag_ = method_->evolve(end, reached, ARK_ONE_STEP);
  } while (flag_ < 0 && retry_smaller());
  if (flag_ < 0) return End::failed;
  tau = tau_ = reached;
  std::copy_n(method_->x().begin(), x.size(), x.begin());
  const double next = method_->current_size();
  const bool cut_short = flag_ == ARK_TSTOP_RETURN || flag_ == ARK_ROOT_RETURN;
  now_.size = cut_short ? std::max(next, now_.size) : next;
  return flag_ == ARK_ROOT_RETURN ? End::root : End::usual;
}

/// ARKODE gives up where f fails in an explicit stage.
bool OneStepMicroSteps::retry_smaller() {
  if (!rhs_.last_failed()) return false;
  now_.size = 0.25 * (rhs_.failed_tau() - tau_);
  if (!(now_.size > smallest_micro_step * h_)) return false;
  begin_method();
  return true;
}

}  // namespace

std::unique_ptr<MicroSteps> make_erk_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<OneStepMicroSteps>(rhs, make_explicit_arkode(rhs, std::move(roots)));
}

std::unique_ptr<MicroSteps> make_dirk_micro_steps(RightHandSide& rhs, Roots roots) {
  return std::make_unique<OneStepMicroSteps>(rhs, make_implicit_arkode(rhs, {}, std::move(roots)));
}

}  // namespace concord

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "subsystem/ode/arkode.hpp"
#include "subsystem/ode/integrator.hpp"

namespace concord {

namespace {

/// Trials after a rollback keep the first trial's micro-steps while their error stays below this
/// multiple of the tolerance: a power of two, so that nothing else changes in a bit.
constexpr double replay_slack = 2.0;

/// Embedded Runge-Kutta pairs by ARKODE, explicit (erk) or implicit (dirk).
///
/// Begun anew at each macro-step. The first micro-step is what the controller proposed last, so
/// that a macro-step which the tolerance allows costs one micro-step. The controller remembers
/// nothing else.
///
/// After a rollback the same macro-step is integrated with the same micro-steps, so that what an
/// iterative coupling sees is a smooth function of the inputs and not the controller's decisions
/// (internal numerical differentiation, Bock 1981).
class OneStep final : public Integrator {
 public:
  OneStep(RightHandSide& rhs, Pair pair);

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override {
    return integration_failure(method_->name(), rhs_, method_->explain(flag_), reached_);
  }
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
  double adapt(double size, double error, int p);
  void accepted(double tau);
  int evolve(double h);
  int try_macro_step(double h, std::span<const double> x_begin);
  void plan_accepted_sizes();
  bool retry_smaller(double h);

  std::unique_ptr<Arkode> method_;
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

OneStep::OneStep(RightHandSide& rhs, Pair pair) : Integrator(rhs) {
  Arkode::Driver driver;
  driver.adapt = [this](double size, double error, int p) { return adapt(size, error, p); };
  driver.accepted = [this](double tau) { accepted(tau); };
  driver.multiple_of_tolerance = [this] { return replaying_ ? replay_slack : 1.0; };
  method_ = make_arkode(pair, rhs, std::move(driver), Roots{});
}

/// The I controller: error, in units of the tolerance, grows with size^(p+1). The last micro-step
/// is cut short by the macro-step's end, so that what it proposes may be less than what the one
/// before did.
double OneStep::adapt(double size, double error, int p) {
  if (replaying_ && cursor_ < plan_.size()) {
    optimal_ = plan_[cursor_++];
  } else {
    const double growth = std::pow(std::max(error, 1e-10), -1.0 / (p + 1));
    optimal_ = size * std::min(growth, largest_growth);
  }
  if (!replaying_) plan_.push_back(optimal_);
  return optimal_;
}

void OneStep::accepted(double tau) {
  next_before_ = std::exchange(next_, optimal_);
  sizes_.push_back(tau - reached_);
  reached_ = tau;
  ++steps_;
}

Outcome OneStep::integrate(double h, History /*history*/, std::span<const double> x_begin,
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
  std::copy_n(method_->x().begin(), x_end.size(), x_end.begin());
  return Outcome::ok;
}

int OneStep::try_macro_step(double h, std::span<const double> x_begin) {
  std::copy(x_begin.begin(), x_begin.end(), method_->x().begin());
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
void OneStep::plan_accepted_sizes() {
  plan_first_ = sizes_.front();
  plan_.clear();
  for (std::size_t i = 1; i < sizes_.size(); ++i) plan_.push_back(sizes_[i] / arkode_safety);
  plan_.push_back(std::max(next_, next_before_));
}

int OneStep::evolve(double h) {
  double tau = reached_;
  method_->begin(reached_, std::min(proposal_, h - reached_), smallest_micro_step * h);
  return method_->evolve(h, tau, ARK_NORMAL);
}

/// ARKODE gives up where f fails in an explicit stage; the state is that after the last accepted
/// micro-step.
bool OneStep::retry_smaller(double h) {
  if (!rhs_.last_failed() || steps_ >= max_micro_steps) return false;
  proposal_ = 0.25 * (rhs_.failed_tau() - reached_);
  return proposal_ > smallest_micro_step * h;
}

}  // namespace

std::unique_ptr<Integrator> make_erk(RightHandSide& rhs) {
  return std::make_unique<OneStep>(rhs, Pair::explicit_pair);
}

std::unique_ptr<Integrator> make_dirk(RightHandSide& rhs) {
  return std::make_unique<OneStep>(rhs, Pair::implicit_pair);
}

}  // namespace concord

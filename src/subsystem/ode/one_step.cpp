#include <arkode/arkode.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "subsystem/ode/erk_pair.hpp"
#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/one_step_pair.hpp"
#include "subsystem/ode/order_choice.hpp"
#include "support/scratch.hpp"

namespace concord {

namespace {

/// Trials after a rollback keep the first trial's micro-steps while their error stays below this
/// multiple of the tolerance: a power of two, so that nothing else changes in a bit.
constexpr double replay_slack = 2.0;

/// Embedded Runge-Kutta pairs, explicit (erk) or implicit (dirk).
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
  using Make = std::unique_ptr<OneStepPair>(RightHandSide&, OneStepPair::Driver);
  OneStep(RightHandSide& rhs, Make& make) : Integrator(rhs), make_(make) {}

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override {
    return integration_failure(pair_->name(), rhs_, pair_->explain(flag_), reached_);
  }
  double reached() const override { return reached_; }
  std::span<const double> local_errors() const override { return errors_; }
  void save() override {
    saved_ = now_;
    plan_.h = 0.0;
    saves_ = true;
    restored_ = false;
  }
  void restore() override {
    now_ = saved_;
    restored_ = true;
  }
  void pass_course(Archive& archive) override {
    CONCORD_MEMBERS(archive, now_, micro_steps_, saves_, restored_, plan_.h, plan_.first,
                    plan_.answers);
  }

 private:
  double adapt(double size, double error, int p);
  void accepted(double tau, std::span<const double> error, double error_ratio);
  void add_error(std::span<const double> error, double error_ratio);
  OneStepPair& pair();
  bool is_explicit() const { return &make_ == &make_explicit_steps; }
  double multiple_of_tolerance() const { return replaying_ ? replay_slack : 1.0; }
  bool take_whole(double h, std::span<const double> x_begin, std::span<double> x_end);
  int evolve(double h);
  int try_macro_step(double h, std::span<const double> x_begin, std::span<double> x_end);
  void plan_accepted_sizes();
  bool retry_smaller(double h);
  void choose_order(double h);

  struct Memory {
    double proposal = 0.0;  ///< size of the next micro-step; 0: unknown
    OrderChoice order;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, proposal, order); }
  };

  /// What the controller answers, for trials after a rollback.
  struct Plan {
    double h = 0.0;               ///< macro-step that it is for; 0: none since save()
    double first = 0.0;           ///< size of the first micro-step
    std::vector<double> answers;  ///< one per micro-step
    std::size_t next = 0;
  };

  /// The macro-step's micro-steps so far.
  struct Progress {
    double optimal = 0.0;                  ///< the controller's size after the last attempt
    double next = 0.0, next_before = 0.0;  ///< that after the last two accepted micro-steps
    std::vector<double> sizes;
    double error = 0.0;  ///< of the last attempt, in units of the tolerance
    int order = 0;       ///< of the embedded method
  };
  /// Of the call of `integrate` that is under way, from memory that all calls share.
  class UnderWay {
   public:
    explicit UnderWay(OneStep& step) : step_(step) {
      progress_.sizes.swap(spare_);
      step_.progress_ = &progress_;
    }
    ~UnderWay() {
      spare_.swap(progress_.sizes);
      step_.progress_ = nullptr;
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    static inline std::vector<double> spare_;
    OneStep& step_;
    Progress progress_;
  };

  Make& make_;
  std::unique_ptr<OneStepPair> pair_;  ///< made when it is first wanted
  Memory now_, saved_;
  Plan plan_;
  Progress* progress_ = nullptr;  ///< while it integrates
  double reached_ = 0.0;
  std::vector<double> errors_;  ///< that accepted micro-steps have left
  bool saves_ = false;          ///< at the macro-step that follows or before: rollback is in use
  bool restored_ = false;       ///< since the last save
  bool replaying_ = false;
  int flag_ = ARK_SUCCESS;
};

OneStepPair& OneStep::pair() {
  if (pair_) return *pair_;
  OneStepPair::Driver driver;
  driver.adapt = [this](double size, double error, int p) { return adapt(size, error, p); };
  driver.accepted = [this](double tau) { accepted(tau, pair_->error(), pair_->error_ratio()); };
  driver.multiple_of_tolerance = [this] { return multiple_of_tolerance(); };
  pair_ = make_(rhs_, std::move(driver));
  return *pair_;
}

/// The I controller: error, in units of the tolerance, grows with size^(p+1). The last micro-step
/// is cut short by the macro-step's end, so that what it proposes may be less than what the one
/// before did.
double OneStep::adapt(double size, double error, int p) {
  progress_->error = error;
  progress_->order = p;
  if (replaying_ && plan_.next < plan_.answers.size()) {
    progress_->optimal = plan_.answers[plan_.next++];
  } else {
    const double growth = std::pow(std::max(error, 1e-10), -1.0 / (p + 1));
    progress_->optimal = size * std::min(growth, largest_growth);
  }
  if (saves_ && !replaying_) plan_.answers.push_back(progress_->optimal);
  return progress_->optimal;
}

void OneStep::accepted(double tau, std::span<const double> error, double error_ratio) {
  progress_->next_before = std::exchange(progress_->next, progress_->optimal);
  progress_->sizes.push_back(tau - reached_);
  reached_ = tau;
  add_error(error, error_ratio);
}

/// Of the solution that goes on.
void OneStep::add_error(std::span<const double> estimate, double error_ratio) {
  const double relative = progress_->error * rhs_.weights().tolerance().relative;
  const double of_estimate = error_ratio * std::pow(relative, 1.0 / (progress_->order + 1));
  const double share = std::min(1.0, of_estimate);
  for (std::size_t i = 0; i < estimate.size(); ++i) errors_[i] += share * estimate[i];
}

Outcome OneStep::integrate(double h, History /*history*/, std::span<const double> x_begin,
                           std::span<double> x_end) {
  const UnderWay under_way(*this);
  replaying_ = restored_ && plan_.h == h;
  if (!(now_.proposal > 0.0)) now_.proposal = h;
  const double first = now_.proposal;
  flag_ = try_macro_step(h, x_begin, x_end);
  if (saves_ && !replaying_ && flag_ >= 0) {
    plan_.first = first;
    plan_.h = h;
    const bool some_rejected = plan_.answers.size() > progress_->sizes.size();
    if (some_rejected) {
      plan_accepted_sizes();
      replaying_ = true;
      flag_ = try_macro_step(h, x_begin, x_end);
    }
  }
  rhs_.rethrow();
  if (flag_ < 0) return Outcome::failed;
  now_.proposal = std::max(progress_->next, progress_->next_before);
  choose_order(h);
  return Outcome::ok;
}

/// Who watches the way sees cubics between micro-steps, which may not be long.
void OneStep::choose_order(double h) {
  if (!is_explicit() || rhs_.is_watched()) return;
  const double rtol = rhs_.weights().tolerance().relative;
  const auto order_of = [](const ErkPair& pair) {
    return OneStepPair::Order{pair.evaluations(), pair.embedded_order()};
  };
  now_.proposal *= now_.order.conclude({order_of(erk_pair(rtol)), order_of(long_erk_pair())}, rtol,
                                       h, progress_->sizes.size(), now_.proposal);
}

int OneStep::try_macro_step(double h, std::span<const double> x_begin, std::span<double> x_end) {
  reached_ = progress_->next = progress_->next_before = 0.0;
  progress_->sizes.clear();
  errors_.assign(x_begin.size(), 0.0);
  rhs_.path_begins(x_begin);
  plan_.next = 0;
  if (replaying_)
    now_.proposal = plan_.first;
  else
    plan_.answers.clear();
  int flag = ARK_SUCCESS;
  if (!take_whole(h, x_begin, x_end)) {
    std::copy(x_begin.begin(), x_begin.end(), pair().x().begin());
    pair_->take_order(now_.order.high() && !rhs_.is_watched());
    do {
      flag = evolve(h);
    } while (flag < 0 && retry_smaller(h));
    std::copy_n(pair_->x().begin(), x_end.size(), x_end.begin());
  }
  micro_steps_ += static_cast<std::int64_t>(progress_->sizes.size());
  return flag;
}

/// Where the pair would make the macro-step as one micro-step, which has been taken ahead for many
/// subsystems, and its error is small enough.
bool OneStep::take_whole(double h, std::span<const double> x_begin, std::span<double> x_end) {
  const WholeStep& whole = rhs_.whole_step();
  const ErkPair& usual = erk_pair(rhs_.weights().tolerance().relative);
  const bool high = now_.order.high() && !rhs_.is_watched();
  if (!is_explicit() || high || !comes_to_end(std::min(now_.proposal, h), h) ||
      !whole.is(usual, h, x_begin) || !rhs_.allows(usual.stages()))
    return false;
  Scratch scratch;
  const std::span<double> weights = scratch.numbers(x_begin.size());
  const std::span<double> error = scratch.numbers(x_begin.size());
  rhs_.weights().weigh(x_begin, multiple_of_tolerance(), weights);
  whole.error(error);
  const double size = weighted_norm(error, weights);
  if (is_beyond_rounding(weighted_norm(x_begin, weights)) || !(size <= 1.0)) return false;
  adapt(h, size, usual.embedded_order());
  rhs_.take_over(whole, x_begin);
  whole.end(x_end);
  accepted(h, error, usual.error_ratio());
  rhs_.path_reaches(h, x_end);
  return true;
}

/// Attempts were rejected: a plan of the accepted ones alone.
void OneStep::plan_accepted_sizes() {
  plan_.first = progress_->sizes.front();
  plan_.answers.clear();
  for (std::size_t i = 1; i < progress_->sizes.size(); ++i)
    plan_.answers.push_back(progress_->sizes[i] / safety);
  plan_.answers.push_back(std::max(progress_->next, progress_->next_before));
}

int OneStep::evolve(double h) {
  pair_->begin(reached_, std::min(now_.proposal, h - reached_), smallest_micro_step * h);
  return pair_->evolve(h);
}

/// Pairs give up where f fails in an explicit stage.
bool OneStep::retry_smaller(double h) {
  if (!rhs_.last_failed() || progress_->sizes.size() >= max_micro_steps) return false;
  now_.proposal = 0.25 * (rhs_.failed_tau() - reached_);
  return now_.proposal > smallest_micro_step * h;
}

}  // namespace

std::unique_ptr<Integrator> make_erk(RightHandSide& rhs) {
  return std::make_unique<OneStep>(rhs, make_explicit_steps);
}

std::unique_ptr<Integrator> make_dirk(RightHandSide& rhs) {
  return std::make_unique<OneStep>(rhs, make_implicit_steps);
}

}  // namespace concord

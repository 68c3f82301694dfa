#include <arkode/arkode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "subsystem/ode/erk_pair.hpp"
#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/one_step_pair.hpp"

namespace concord {

namespace {

/// Of an attempt that failed, and after the first failure at the same point.
constexpr double smallest_shrinking = 0.1, shrinking_again = 0.3;
constexpr int most_failures = 20;

/// A size that would grow by less stays as it is.
constexpr double not_worth_growing = 1.5;

/// The explicit pairs, with ARKODE's rules for sizes and errors: for subsystems of a few states
/// what ERKStep does around a macro-step that is one micro-step costs several times the micro-step.
class ExplicitSteps final : public OneStepPair {
 public:
  ExplicitSteps(RightHandSide& rhs, Driver driver)
      : rhs_(rhs),
        driver_(std::move(driver)),
        usual_(erk_pair(rhs.weights().tolerance().relative), 1, rhs.state_count()),
        sizes_(rhs.state_count()),
        x_(rhs.state_count()),
        weights_(rhs.state_count()),
        next_(rhs.state_count()),
        error_(rhs.state_count()) {}

  const char* name() const override { return "erk"; }
  void take_order(bool high) override;
  void begin(double tau, double first_size, double smallest_size) override {
    tau_ = tau;
    size_ = first_size;
    smallest_ = smallest_size;
    knows_slopes_ = false;
  }
  int evolve(double end) override;
  std::span<double> x() override { return x_; }
  std::span<const double> error() override { return error_; }
  double error_ratio() const override { return stages_->pair().error_ratio(); }
  std::string explain(int code) const override { return explain_arkode(code, size_); }

 private:
  int take(double end);
  int attempt(double end, bool last);
  int evaluate_stages(double end, bool last);
  double norm(std::span<const double> values) const { return weighted_norm(values, weights_); }
  void accept(double end, bool last);

  RightHandSide& rhs_;
  Driver driver_;
  ErkStages usual_;
  std::unique_ptr<ErkStages> long_;  ///< made when it is first wanted
  ErkStages* stages_ = &usual_;
  std::vector<double> sizes_;  ///< the same of each state: their loops are the inner ones
  std::vector<double> x_, weights_;
  std::vector<double> next_, error_;  ///< where the last attempt ended
  double tau_ = 0.0, size_ = 0.0, smallest_ = 0.0;
  bool knows_slopes_ = false;  ///< the first stage's
};

void ExplicitSteps::take_order(bool high) {
  if (high && !long_) long_ = std::make_unique<ErkStages>(long_erk_pair(), 1, rhs_.state_count());
  stages_ = high ? long_.get() : &usual_;
}

int ExplicitSteps::evolve(double end) {
  for (long steps = 0; tau_ < end; ++steps) {
    if (steps == max_micro_steps) return ARK_TOO_MUCH_WORK;
    if (const int code = take(end); code != ARK_SUCCESS) return code;
  }
  return ARK_SUCCESS;
}

/// One micro-step, after as many failed attempts as it takes.
int ExplicitSteps::take(double end) {
  rhs_.weights().weigh(x_, driver_.multiple_of_tolerance(), weights_);
  if (is_beyond_rounding(norm(x_))) return ARK_TOO_MUCH_ACC;
  for (int failures = 0;;) {
    const bool last = comes_to_end(size_, end - tau_);
    if (last) size_ = end - tau_;
    if (const int code = attempt(end, last); code != RightHandSide::ok)
      return code == RightHandSide::recoverable ? ARK_UNREC_RHSFUNC_ERR : ARK_RHSFUNC_FAIL;
    const double error = norm(error_);
    const double optimal = driver_.adapt(size_, error, stages_->pair().embedded_order());
    const double change = safety * optimal / size_;
    if (error <= 1.0) {
      accept(end, last);
      const double largest = failures > 0 ? 1.0 : largest_growth;
      if (change < 1.0 || change > not_worth_growing)
        size_ = std::max(smallest_, size_ * std::clamp(change, smallest_shrinking, largest));
      return ARK_SUCCESS;
    }
    if (++failures == most_failures || size_ <= smallest_) return ARK_ERR_FAILURE;
    const double largest = failures > 1 ? shrinking_again : 1.0;
    size_ = std::max(smallest_, size_ * std::min(std::max(smallest_shrinking, change), largest));
  }
}

int ExplicitSteps::attempt(double end, bool last) {
  if (!std::exchange(knows_slopes_, true))
    if (const int code = rhs_.evaluate(tau_, x_, stages_->slopes(0)); code != RightHandSide::ok)
      return code;
  std::ranges::fill(sizes_, size_);
  const int code = evaluate_stages(end, last);
  if (code == RightHandSide::ok) {
    std::ranges::copy(stages_->end(sizes_, x_), next_.begin());
    std::ranges::copy(stages_->error(sizes_), error_.begin());
  }
  return code;
}

int ExplicitSteps::evaluate_stages(double end, bool last) {
  const ErkPair& pair = stages_->pair();
  for (std::size_t i = 1; i < pair.stages(); ++i) {
    const double tau = last && pair.c(i) == 1.0 ? end : tau_ + pair.c(i) * size_;
    const auto point = stages_->point(i, sizes_, x_);
    if (const int code = rhs_.evaluate(tau, point, stages_->slopes(i)); code != RightHandSide::ok)
      return code;
  }
  return RightHandSide::ok;
}

void ExplicitSteps::accept(double end, bool last) {
  x_.swap(next_);
  tau_ = last ? end : tau_ + size_;
  knows_slopes_ = stages_->advance();
  driver_.accepted(tau_);
  rhs_.path_reaches(tau_, x_);
}

}  // namespace

std::unique_ptr<OneStepPair> make_explicit_steps(RightHandSide& rhs, OneStepPair::Driver driver) {
  return std::make_unique<ExplicitSteps>(rhs, std::move(driver));
}

}  // namespace concord

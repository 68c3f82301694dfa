#include <algorithm>
#include <vector>

#include "subsystem/ode/integrator.hpp"

namespace concord {

namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 60;

/// Evaluations of f in one macro-step up to which erk is never doubted: about 35 micro-steps.
constexpr std::int64_t undoubted_cost = 250;

/// Macro-steps between trials of the other method, at first and at most.
constexpr std::int64_t shortest_wait = 16, longest_wait = 4096;

/// Evaluations of f that erk may spend for one of cvode_bdf's before stiffness is the reason: where
/// accuracy limits both, erk takes 2 to 4 (7 in a micro-step) for smaller errors. Apart, so that a
/// subsystem between them stays with either.
constexpr double stiff_ratio = 8.0, non_stiff_ratio = 4.0;

/// erk, going over to cvode_bdf where the subsystem turns out stiff, and back.
///
/// The other method is tried on the same macro-step from the same states, with no more evaluations
/// of f than would win. Each trial in vain doubles the number of macro-steps to the next one. A
/// macro-step that costs erk four times what it did at the last trial is a reason to try at once.
class Automatic final : public Integrator {
 public:
  explicit Automatic(RightHandSide& rhs) : Integrator(rhs), erk_(make_erk(rhs)) {}

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override { return failed_->failure(); }
  double reached() const override { return failed_ ? failed_->reached() : 0.0; }
  bool continued() const override { return bdf_is_current_ && bdf_->continued(); }
  void save() override;
  void restore() override;

 private:
  enum class Mode { erk, bdf };
  struct Choice {
    Mode mode = Mode::erk;
    std::int64_t wait = 0;  ///< macro-steps to the next trial
    std::int64_t next_wait = shortest_wait;
    std::int64_t patience = undoubted_cost;  ///< erk: cost that is a reason to try at once
  };

  Outcome integrate_by_erk(double h, std::span<const double> x_begin, std::span<double> x_end);
  Outcome integrate_by_bdf(double h, History history, std::span<const double> x_begin,
                           std::span<double> x_end);
  Outcome run(Integrator& method, double h, History history, std::int64_t limit,
              std::span<const double> x_begin, std::span<double> x_end);
  Integrator& bdf();
  void switch_to(Mode mode);
  void wait_longer();

  std::unique_ptr<Integrator> erk_, bdf_;  ///< bdf_ is made when it is first tried
  std::vector<double> trial_end_;
  const Integrator* failed_ = nullptr;
  Choice choice_, saved_;
  std::int64_t cost_ = 0;        ///< evaluations of f in the last run()
  bool bdf_is_current_ = false;  ///< bdf made the previous macro-step
};

Outcome Automatic::integrate(double h, History history, std::span<const double> x_begin,
                             std::span<double> x_end) {
  const Outcome outcome = choice_.mode == Mode::erk ? integrate_by_erk(h, x_begin, x_end)
                                                    : integrate_by_bdf(h, history, x_begin, x_end);
  micro_steps_ = erk_->micro_steps() + (bdf_ ? bdf_->micro_steps() : 0);
  bdf_is_current_ = outcome == Outcome::ok && choice_.mode == Mode::bdf;
  return outcome;
}

Outcome Automatic::run(Integrator& method, double h, History history, std::int64_t limit,
                       std::span<const double> x_begin, std::span<double> x_end) {
  const std::int64_t before = rhs_.evaluations();
  rhs_.limit_evaluations(limit);
  const Outcome outcome = method.integrate(h, history, x_begin, x_end);
  cost_ = rhs_.evaluations() - before;
  if (outcome == Outcome::failed) failed_ = &method;
  return outcome;
}

Outcome Automatic::integrate_by_erk(double h, std::span<const double> x_begin,
                                    std::span<double> x_end) {
  if (choice_.wait > 0) --choice_.wait;
  const std::int64_t patience = choice_.wait > 0 ? choice_.patience : undoubted_cost;
  if (run(*erk_, h, History::discard, patience, x_begin, x_end) == Outcome::ok) return Outcome::ok;

  const bool too_dear = rhs_.limit_reached();
  const auto everything = static_cast<double>(unlimited);
  const double expected = too_dear ? static_cast<double>(cost_) * h / erk_->reached() : everything;
  const auto limit = static_cast<std::int64_t>(std::min(expected / stiff_ratio, everything));
  if (run(bdf(), h, History::discard, limit, x_begin, x_end) == Outcome::ok) {
    switch_to(Mode::bdf);
    return Outcome::ok;
  }
  failed_ = erk_.get();
  if (!too_dear) return Outcome::failed;
  const Outcome outcome = run(*erk_, h, History::discard, unlimited, x_begin, x_end);
  choice_.patience = 4 * cost_;
  wait_longer();
  return outcome;
}

Outcome Automatic::integrate_by_bdf(double h, History history, std::span<const double> x_begin,
                                    std::span<double> x_end) {
  const History usable = bdf_is_current_ ? history : History::discard;
  if (run(bdf(), h, usable, unlimited, x_begin, x_end) == Outcome::failed) {
    if (run(*erk_, h, History::discard, unlimited, x_begin, x_end) == Outcome::failed) {
      failed_ = bdf_.get();
      return Outcome::failed;
    }
    switch_to(Mode::erk);
    return Outcome::ok;
  }
  if (--choice_.wait > 0) return Outcome::ok;

  trial_end_.resize(x_end.size());
  const auto limit = static_cast<std::int64_t>(non_stiff_ratio * static_cast<double>(cost_));
  if (run(*erk_, h, History::discard, limit, x_begin, trial_end_) == Outcome::ok) {
    std::copy(trial_end_.begin(), trial_end_.end(), x_end.begin());
    switch_to(Mode::erk);
  } else {
    wait_longer();
  }
  return Outcome::ok;
}

Integrator& Automatic::bdf() {
  if (!bdf_) bdf_ = make_cvode_bdf(rhs_);
  return *bdf_;
}

void Automatic::switch_to(Mode mode) {
  choice_.mode = mode;
  choice_.wait = mode == Mode::bdf ? choice_.next_wait : 0;
  choice_.patience = undoubted_cost;
}

void Automatic::wait_longer() {
  choice_.wait = choice_.next_wait;
  choice_.next_wait = std::min(2 * choice_.next_wait, longest_wait);
}

void Automatic::save() {
  saved_ = choice_;
  erk_->save();
  if (bdf_) bdf_->save();
}

void Automatic::restore() {
  choice_ = saved_;
  bdf_is_current_ = false;
  erk_->restore();
  if (bdf_) bdf_->restore();
}

}  // namespace

std::unique_ptr<Integrator> make_automatic(RightHandSide& rhs) {
  return std::make_unique<Automatic>(rhs);
}

}  // namespace concord

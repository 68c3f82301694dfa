#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/method_choice.hpp"
#include "support/scratch.hpp"
#include "support/spectral_radius.hpp"

namespace concord {

namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 60;

/// Macro-steps between trials of the other method, at first.
constexpr std::int32_t shortest_wait = 16;

/// Mean sizes of micro-steps times the spectral radius of f_x, up to which stability, which for erk
/// ends at about 3, is far from limiting them; and states up to which it is found.
constexpr double not_for_stability = 0.03;
constexpr std::size_t few_states = 64;

/// What of another implicit method's evaluations justifies a change: apart from 1, so that equals
/// stay.
constexpr double cheaper = 0.7;

/// erk, going over to cvode_bdf or dirk where the subsystem turns out stiff, and back. Where
/// accuracy alone asks erk for many micro-steps, as of signals that rise like t^n, nothing is
/// tried.
///
/// Another method is tried on the same macro-step from the same states, with no more evaluations of
/// f than would win. Each trial in vain doubles the number of macro-steps to the next one. A
/// macro-step that costs erk four times what it did at the last trial is a reason to try at once.
///
/// cvode_bdf continues from macro-step to macro-step at its full order, where it may; where it has
/// to begin anew at order 1, dirk mostly needs less. Where one fails the others are tried.
class Automatic final : public Integrator {
 public:
  explicit Automatic(RightHandSide& rhs) : Integrator(rhs) { method(Method::erk); }

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override { return failed_->failure(); }
  double reached() const override { return failed_ ? failed_->reached() : 0.0; }
  std::span<const double> local_errors() const override { return succeeded_->local_errors(); }
  bool continued() const override { return bdf_is_current_ && bdf().continued(); }
  void save() override;
  void restore() override;
  void pass_course(Archive& archive) override;

 private:
  enum class Method : std::uint8_t { erk, bdf, dirk };
  struct Choice {
    std::int64_t patience = undoubted_cost;  ///< erk: cost that is a reason to try at once
    std::int32_t wait = 0;                   ///< macro-steps to the next trial
    std::int32_t next_wait = shortest_wait;
    Method method = Method::erk;
    bool erk_is_next = false;  ///< on trial, else the other implicit method
  };

  Outcome integrate_by_erk(double h, std::span<const double> x_begin, std::span<double> x_end);
  Outcome integrate_implicitly(double h, History history, std::span<const double> x_begin,
                               std::span<double> x_end);
  bool accuracy_limits(std::span<const double> x_reached);
  bool settle_trials(double h, std::span<const double> x_begin, std::span<double> x_end);
  Outcome instead_of(Method failed, double h, std::int64_t limit, std::span<const double> x_begin,
                     std::span<double> x_end);
  void try_another(double h, std::span<const double> x_begin, std::span<double> x_end);
  Outcome run(Method which, double h, History history, std::int64_t limit,
              std::span<const double> x_begin, std::span<double> x_end);
  Integrator& method(Method which);
  Integrator& bdf() const { return *methods_[static_cast<std::size_t>(Method::bdf)]; }
  static Method other_implicit(Method which) {
    return which == Method::bdf ? Method::dirk : Method::bdf;
  }
  void switch_to(Method which);
  void wait_longer();

  std::array<std::unique_ptr<Integrator>, 3> methods_;         ///< made when they are first tried
  const Integrator *failed_ = nullptr, *succeeded_ = nullptr;  ///< last
  Choice choice_, saved_;
  std::int64_t cost_ = 0;        ///< evaluations of f in the last run()
  bool bdf_is_current_ = false;  ///< bdf made the previous macro-step
  bool saves_ = false;
  int restores_ = 0;  ///< since the last save
};

Outcome Automatic::integrate(double h, History history, std::span<const double> x_begin,
                             std::span<double> x_end) {
  const Outcome outcome = choice_.method == Method::erk
                              ? integrate_by_erk(h, x_begin, x_end)
                              : integrate_implicitly(h, history, x_begin, x_end);
  micro_steps_ = 0;
  for (const auto& made : methods_) micro_steps_ += made ? made->micro_steps() : 0;
  bdf_is_current_ = outcome == Outcome::ok && choice_.method == Method::bdf;
  return outcome;
}

Outcome Automatic::run(Method which, double h, History history, std::int64_t limit,
                       std::span<const double> x_begin, std::span<double> x_end) {
  Integrator& integrator = method(which);
  const std::int64_t before = rhs_.evaluations();
  rhs_.limit_evaluations(limit);
  const Outcome outcome = integrator.integrate(h, history, x_begin, x_end);
  cost_ = rhs_.evaluations() - before;
  (outcome == Outcome::failed ? failed_ : succeeded_) = &integrator;
  return outcome;
}

Outcome Automatic::integrate_by_erk(double h, std::span<const double> x_begin,
                                    std::span<double> x_end) {
  if (choice_.wait > 0) --choice_.wait;
  const std::int64_t patience = choice_.wait > 0 ? choice_.patience : undoubted_cost;
  if (run(Method::erk, h, History::discard, patience, x_begin, x_end) == Outcome::ok)
    return Outcome::ok;

  const bool too_dear = rhs_.limit_reached();
  if (too_dear && accuracy_limits(x_end)) {
    constexpr int more = 4;
    const auto limit = more * cost_;
    if (run(Method::erk, h, History::discard, limit, x_begin, x_end) == Outcome::ok) {
      choice_.patience = 4 * cost_;
      wait_longer();
      return Outcome::ok;
    }
  }
  const auto everything = static_cast<double>(unlimited);
  const double expected =
      too_dear ? static_cast<double>(cost_) * h / method(Method::erk).reached() : everything;
  const auto limit = static_cast<std::int64_t>(std::min(expected / stiff_ratio, everything));
  if (instead_of(Method::erk, h, limit, x_begin, x_end) == Outcome::ok) return Outcome::ok;
  failed_ = &method(Method::erk);
  if (!too_dear) return Outcome::failed;
  const Outcome outcome = run(Method::erk, h, History::discard, unlimited, x_begin, x_end);
  choice_.patience = 4 * cost_;
  wait_longer();
  return outcome;
}

/// Of erk's micro-steps in the macro-step so far.
bool Automatic::accuracy_limits(std::span<const double> x_reached) {
  constexpr double evaluations_per_step = 7.0;
  const double reached = method(Method::erk).reached();
  const std::size_t n = x_reached.size();
  if (n > few_states) return false;
  rhs_.lift_limit();
  std::vector<double> f(n), f_x(n * n);
  if (rhs_.evaluate(reached, x_reached, f) != 0 ||
      rhs_.state_jacobian(reached, x_reached, f, f_x) != 0 ||
      !std::all_of(f_x.begin(), f_x.end(), [](double entry) { return std::isfinite(entry); })) {
    return false;
  }
  const double size = evaluations_per_step * reached / static_cast<double>(cost_);
  return size * spectral_radius(f_x, n) < not_for_stability;
}

/// The first of the other methods that does it within the limit takes over.
Outcome Automatic::instead_of(Method failed, double h, std::int64_t limit,
                              std::span<const double> x_begin, std::span<double> x_end) {
  for (const Method which : {Method::bdf, Method::dirk, Method::erk}) {
    if (which == failed) continue;
    if (which == Method::erk && limit < unlimited) continue;
    if (run(which, h, History::discard, limit, x_begin, x_end) == Outcome::failed) continue;
    switch_to(which);
    return Outcome::ok;
  }
  return Outcome::failed;
}

Outcome Automatic::integrate_implicitly(double h, History history, std::span<const double> x_begin,
                                        std::span<double> x_end) {
  if (settle_trials(h, x_begin, x_end)) return Outcome::ok;
  const Method current = choice_.method;
  const History usable = bdf_is_current_ ? history : History::discard;
  if (run(current, h, usable, unlimited, x_begin, x_end) == Outcome::failed) {
    if (instead_of(current, h, unlimited, x_begin, x_end) == Outcome::ok) return Outcome::ok;
    failed_ = &method(current);
    return Outcome::failed;
  }
  if (--choice_.wait <= 0) try_another(h, x_begin, x_end);
  return Outcome::ok;
}

/// bdf chooses its micro-steps in every trial anew, and its errors jump with them: where a coupling
/// does not come to rest over that, dirk takes over, which repeats its micro-steps.
bool Automatic::settle_trials(double h, std::span<const double> x_begin, std::span<double> x_end) {
  constexpr int usual_trials = 8;
  if (choice_.method != Method::bdf || restores_ < usual_trials) return false;
  if (run(Method::dirk, h, History::discard, unlimited, x_begin, x_end) == Outcome::failed)
    return false;
  switch_to(Method::dirk);
  return true;
}

void Automatic::try_another(double h, std::span<const double> x_begin, std::span<double> x_end) {
  const Method rival = choice_.erk_is_next ? Method::erk : other_implicit(choice_.method);
  const double ratio = choice_.erk_is_next ? non_stiff_ratio : cheaper;
  const auto limit = static_cast<std::int64_t>(ratio * static_cast<double>(cost_));
  Scratch scratch;
  const std::span<double> trial_end = scratch.numbers(x_end.size());
  const RightHandSide::Unwatched unwatched(rhs_);
  if (run(rival, h, History::discard, limit, x_begin, trial_end) == Outcome::ok) {
    std::ranges::copy(trial_end, x_end.begin());
    switch_to(rival);
  } else {
    wait_longer();
  }
  choice_.erk_is_next = !choice_.erk_is_next;
}

Integrator& Automatic::method(Method which) {
  auto& made = methods_[static_cast<std::size_t>(which)];
  const bool is_new = !made;
  if (!made && which == Method::erk) made = make_erk(rhs_);
  if (!made && which == Method::bdf) made = make_cvode_bdf(rhs_);
  if (!made && which == Method::dirk) made = make_dirk(rhs_);
  if (is_new && saves_) made->save();
  return *made;
}

/// An implicit method that has just taken over from erk has the other one as a rival at once.
void Automatic::switch_to(Method which) {
  const bool from_erk = choice_.method == Method::erk;
  choice_.method = which;
  choice_.wait = which == Method::erk ? 0 : from_erk ? 1 : choice_.next_wait;
  choice_.erk_is_next = false;
  choice_.patience = undoubted_cost;
}

void Automatic::wait_longer() {
  choice_.wait = choice_.next_wait;
  choice_.next_wait = std::min(2 * choice_.next_wait, longest_wait);
}

void Automatic::save() {
  saved_ = choice_;
  saves_ = true;
  restores_ = 0;
  for (const auto& made : methods_)
    if (made) made->save();
}

void Automatic::restore() {
  choice_ = saved_;
  bdf_is_current_ = false;
  ++restores_;
  for (const auto& made : methods_)
    if (made) made->restore();
}

void Automatic::pass_course(Archive& archive) {
  CONCORD_MEMBERS(archive, choice_, micro_steps_, saves_, restores_);
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    bool made = methods_[i] != nullptr;
    CONCORD_MEMBERS(archive, made);
    if (!made) methods_[i].reset();
    if (made) method(static_cast<Method>(i)).pass_course(archive);
  }
  if (archive.reading()) bdf_is_current_ = false;
}

}  // namespace

std::unique_ptr<Integrator> make_automatic(RightHandSide& rhs) {
  return std::make_unique<Automatic>(rhs);
}

}  // namespace concord

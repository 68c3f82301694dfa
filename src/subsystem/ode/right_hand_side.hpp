#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "subsystem/ode/checked_model.hpp"
#include "subsystem/ode/error_weights.hpp"
#include "subsystem/ode/whole_step.hpp"
#include "support/callback_guard.hpp"
#include "support/scratch.hpp"

namespace concord {

/// Sees which way an integration takes through a macro-step; never throws.
class PathWatch {
 public:
  virtual ~PathWatch() = default;
  /// At tau = 0.
  virtual void begin(std::span<const double> x) noexcept = 0;
  /// An accepted micro-step has come to tau.
  virtual void reach(double tau, std::span<const double> x) noexcept = 0;
};

/// f along one macro-step, x' = f(begin + tau, x, u(tau)), as the integrators' C callbacks need it.
class RightHandSide {
 public:
  /// Nobody watches while it lives.
  class Unwatched {
   public:
    explicit Unwatched(RightHandSide& rhs) : rhs_(rhs), watch_(rhs.watch_) { rhs.watch_ = nullptr; }
    ~Unwatched() { rhs_.watch_ = watch_; }
    Unwatched(const Unwatched&) = delete;
    Unwatched& operator=(const Unwatched&) = delete;

   private:
    RightHandSide& rhs_;
    PathWatch* watch_;
  };

  /// Return codes that ARKODE and CVODE understand.
  static constexpr int ok = 0;
  static constexpr int recoverable = 1;
  static constexpr int unrecoverable = -1;

  RightHandSide(CheckedModel& model, const Tolerance& tolerance)
      : model_(model), weights_(tolerance, model.state_count()) {}

  std::size_t state_count() const { return model_.state_count(); }

  /// `inputs` must stay valid until the macro-step is done.
  void begin_step(const MacroStep& step, std::span<const Polynomial> inputs) {
    step_ = step;
    failed_tau_ = std::numeric_limits<double>::infinity();
    inputs_ = inputs;
    model_.remember_at(step);
  }

  /// dxdt = f at tau (seconds since the macro-step's begin); never throws.
  int evaluate(double tau, std::span<const double> x, std::span<double> dxdt) noexcept;

  /// The macro-step as one explicit micro-step, where it was taken ahead for many subsystems.
  void take_from(const WholeStep& whole) { whole_ = whole; }
  const WholeStep& whole_step() const { return whole_; }

  /// The whole step is used, from x: as if f had been asked for its stages.
  void take_over(const WholeStep& whole, std::span<const double> x);

  /// f_x at tau, column-major n_st x n_st: the model's, or forward differences, for which `f_at_x`
  /// is f at the point, with increments of sqrt(eps) times the states' sizes; for states without
  /// one, with those that f answers to.
  int state_jacobian(double tau, std::span<const double> x, std::span<const double> f_at_x,
                     std::span<double> f_x) noexcept;

  /// The entries of f_x in the pattern's order, likewise.
  int state_entries(double tau, std::span<const double> x, std::span<const double> f_at_x,
                    const ColumnPattern& pattern, std::span<double> entries) noexcept;

  /// Calls `use(t, u)` at tau: what else than f a model computes. The codes of `evaluate`; never
  /// throws.
  template <class Use>
  int at(double tau, Use&& use) noexcept {
    return guard_.run(unrecoverable, [&] {
      Scratch scratch;
      const auto u = inputs_at(tau, scratch);
      return told(tau, model_.attempt(time_at(tau), [&](double t) { use(t, u); }));
    });
  }

  /// The inputs at tau, and their slopes there, in `scratch`.
  std::span<const double> inputs_at(double tau, Scratch& scratch) const;
  std::span<const double> input_slopes_at(double tau, Scratch& scratch) const;

  /// Whoever sees the ways of integrations; null: nobody.
  void watch(PathWatch* watch) { watch_ = watch; }
  bool is_watched() const { return watch_ != nullptr; }
  void path_begins(std::span<const double> x) {
    if (watch_ != nullptr) watch_->begin(x);
  }
  void path_reaches(double tau, std::span<const double> x) {
    if (watch_ != nullptr) watch_->reach(tau, x);
  }

  /// Forgets evaluations of f: an event has changed it.
  void forget() { model_.forget(); }

  /// The evaluations from here on that f may be asked for; more give `unrecoverable`.
  void limit_evaluations(std::int64_t count) { limit_ = model_.rhs_evaluations() + count; }
  void lift_limit() { limit_ = std::numeric_limits<std::int64_t>::max(); }

  bool limit_reached() const { return model_.rhs_evaluations() >= limit_; }
  bool allows(std::size_t evaluations) const {
    return limit_ - model_.rhs_evaluations() >= static_cast<std::int64_t>(evaluations);
  }

  std::int64_t evaluations() const { return model_.rhs_evaluations(); }

  /// Whether the last evaluation failed because of the model: model().failure() then says why.
  bool last_failed() const { return last_failed_; }

  /// Whether f failed so close behind `tau`, in this macro-step, that no integrator gets past it.
  bool failed_close_to(double tau) const {
    return last_failed_ || std::abs(failed_tau_ - tau) <= 1e-6 * step_.size();
  }

  /// Where the last failed evaluation was asked for.
  double failed_tau() const { return failed_tau_; }
  double begin() const { return step_.begin; }
  CheckedModel& model() { return model_; }
  const CheckedModel& model() const { return model_; }

  /// What errors of the states are measured by; between macro-steps they change.
  ErrorWeights& weights() { return weights_; }
  const ErrorWeights& weights() const { return weights_; }

  /// Throws what a callback threw, if anything.
  void rethrow() { guard_.rethrow(); }

 private:
  double time_at(double tau) const { return tau == step_.size() ? step_.end : step_.begin + tau; }
  int told(double tau, bool done);
  bool difference_jacobian(double tau, std::span<const double> x, std::span<const double> f_at_x,
                           std::span<double> f_x);
  bool difference_column(double tau, std::span<const double> x, std::span<const double> f_at_x,
                         std::size_t j, std::span<double> column);

  CheckedModel& model_;
  ErrorWeights weights_;
  CallbackGuard guard_;
  std::span<const Polynomial> inputs_;
  MacroStep step_;
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  bool last_failed_ = false;
  double failed_tau_ = 0.0;
  PathWatch* watch_ = nullptr;
  WholeStep whole_;
};

}  // namespace concord

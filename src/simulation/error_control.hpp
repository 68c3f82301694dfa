#pragma once

#include <memory>
#include <span>

#include "coupling/estimates/error_account.hpp"
#include "settings/settings.hpp"
#include "stepping/error_budget.hpp"

namespace concord {

/// What follows from the run's own account of its error: how much of the tolerance macro-steps may
/// use up, and whether it is a result.
class ErrorControl {
 public:
  ErrorControl(const Settings& settings, RankNetwork& subsystems);

  const ErrorAccount& account() const { return account_; }

  /// As those of ErrorAccount. Collective.
  void start(const CommunicationPoint& point);
  void close(const CommunicationPoint& point);
  void restart(const CommunicationPoint& point);
  void look_ahead(const CommunicationPoint& point) { account_.look_ahead(point, settings_.stop); }
  void look_ahead_again(const CommunicationPoint& point) { account_.look_ahead_again(point); }
  double look_inside(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
                     const Coupling& coupling) {
    return in_budget(account_.look_inside(step, point, trial, coupling));
  }

  void meet_jump() { account_.meet_jump(); }
  void meet_late_event() { account_.meet_late_event(); }
  void see_rows(std::span<const double> missed) { account_.see_rows(missed); }

  /// err of an attempt, whose tolerance is what is left of the run's.
  double in_budget(double error) const { return budget_ ? error / budget_->left.share() : error; }

  /// What it makes of such an err, of an attempt that is accepted.
  StepJudgement judged(double error) const;

  /// The macro-step that ended at `point` was accepted; `last`: it is the run's last one. The
  /// account's estimate for the report, not a number in between. Collective.
  double observe(const CommunicationPoint& point, Coupling& coupling, bool last);

  /// As that of ErrorAccount. Throws SimulationError as `require_result` does. Collective.
  void learn(const CommunicationPoint& point, std::span<const double> errors) {
    account_.learn(point, errors);
    require_result(point);
  }

  /// Throws SimulationError where the run has diverged and must not.
  void require_result(const CommunicationPoint& point) const;

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, account_);
    if (budget_) {
      CONCORD_MEMBERS(archive, *budget_);
    }
  }

 private:
  /// Where err is an error per unit time, or the whole run's error is what was asked for. What has
  /// been spent is what the ends of macro-steps show: it errs on the large side and changes slowly,
  /// where the run's own estimate, which is about right, goes up and down with the signals.
  struct Budget {
    ErrorAccount spent;
    ErrorBudget left;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, spent, left); }
  };

  static double observe(ErrorAccount& account, const CommunicationPoint& point, Coupling& coupling,
                        bool last);
  void spend(const CommunicationPoint& point, Coupling& coupling, bool last);

  const Settings& settings_;
  ErrorAccount account_;
  std::unique_ptr<Budget> budget_;
};

}  // namespace concord

#pragma once

#include <optional>

#include "coupling/estimates/error_account.hpp"
#include "settings/settings.hpp"
#include "stepping/error_budget.hpp"

namespace concord {

/// What follows from the run's own account of its error: how much of the tolerance macro-steps may
/// use up, and whether it is a result.
class ErrorControl {
 public:
  ErrorControl(const Settings& settings, RankNetwork& subsystems);

  ErrorAccount& account() { return account_; }
  const ErrorAccount& account() const { return account_; }

  /// err of an attempt, whose tolerance is what is left of the run's.
  double in_budget(double error) const { return budget_ ? error / budget_->share() : error; }

  /// The macro-step that ended at `point` was accepted; `last`: it is the run's last one. The
  /// account's estimate for the report, not a number in between. Collective.
  double observe(const CommunicationPoint& point, const Coupling& coupling, bool last);

  /// Throws SimulationError where the run has diverged and must not.
  void require_result(const CommunicationPoint& point) const;

  void io(Archive& archive) { archive(budget_, account_); }

 private:
  const Settings& settings_;
  ErrorAccount account_;
  /// Where err is an error per unit time, or the whole run's error is what was asked for.
  std::optional<ErrorBudget> budget_;
};

}  // namespace concord

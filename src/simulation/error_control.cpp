#include "simulation/error_control.hpp"

#include <cmath>

#include "concord/errors.hpp"
#include "simulation/remedies.hpp"

namespace concord {

ErrorControl::ErrorControl(const Settings& settings, RankNetwork& subsystems)
    : settings_(settings),
      account_(
          settings.method, subsystems,
          settings.record.grid.given() ? ErrorAccount::Sight::rows : ErrorAccount::Sight::inside) {
  const bool compares = settings.method.compares_with_prediction();
  if (settings.adapt == Adapt::predictor && (!compares || settings.by_accuracy) &&
      !subsystems.network().has_constraints()) {
    budget_.reset(new Budget{{settings.method, subsystems, ErrorAccount::Sight::ends},
                             ErrorBudget(settings.stop - settings.start)});
  }
}

void ErrorControl::start(const CommunicationPoint& point) {
  account_.start(point, settings_.stop);
  if (budget_) {
    budget_->spent.start(point, settings_.stop);
  }
}

/// Subsystems are told last, and go by, what the run's own account knows.
void ErrorControl::close(const CommunicationPoint& point) {
  if (budget_) {
    budget_->spent.close(point);
  }
  account_.close(point);
}

void ErrorControl::restart(const CommunicationPoint& point) {
  account_.restart(point);
  if (budget_) {
    budget_->spent.restart(point);
  }
}

StepJudgement ErrorControl::judged(double error) const {
  StepJudgement result;
  result.error = error;
  result.longest = settings_.largest_step;
  if (budget_) {
    const ErrorBudget& left = budget_->left;
    result.error *= left.share();
    result.allowed = ErrorBudget::most;
    result.run = left.error();
    result.free = left.free();
    result.rest = left.rest();
  }
  return result;
}

double ErrorControl::observe(const CommunicationPoint& point, Coupling& coupling, bool last) {
  const double estimate = observe(account_, point, coupling, last);
  if (!std::isnan(estimate) || account_.missing()) {
    account_.remember_sizes();
  }
  if (budget_) {
    spend(point, coupling, last);
  }
  return estimate;
}

double ErrorControl::observe(ErrorAccount& account, const CommunicationPoint& point,
                             Coupling& coupling, bool last) {
  if (const Middle* middle = coupling.middle()) {
    account.observe(middle->point, coupling, false);
  }
  return account.observe(point, coupling, last);
}

void ErrorControl::spend(const CommunicationPoint& point, Coupling& coupling, bool last) {
  ErrorAccount& spent = budget_->spent;
  if (std::isnan(observe(spent, point, coupling, last))) {
    return;
  }
  if (!spent.missing()) {
    budget_->left.observe(spent.elapsed(),
                          spent.settled_in_tolerances(settings_.method.adapt_tolerance));
  }
  spent.remember_sizes();
}

void ErrorControl::require_result(const CommunicationPoint& point) const {
  if (account_.diverged() && settings_.diverged == Diverged::fail) {
    throw SimulationError(*account_.diverged() + "; " +
                          remedy_of_divergence(settings_, point.last_step));
  }
}

}  // namespace concord

#include "simulation/error_control.hpp"

#include <cmath>

#include "concord/errors.hpp"
#include "simulation/remedies.hpp"

namespace concord {

ErrorControl::ErrorControl(const Settings& settings, RankNetwork& subsystems)
    : settings_(settings), account_(settings.method, subsystems) {
  const bool compares = settings.method.compares_with_prediction();
  if (settings.adapt == Adapt::predictor && (!compares || settings.by_accuracy) &&
      !subsystems.network().has_constraints()) {
    budget_.emplace(settings.stop - settings.start);
  }
}

double ErrorControl::observe(const CommunicationPoint& point, const Coupling& coupling, bool last) {
  if (const Middle* middle = coupling.middle()) {
    account_.observe(middle->point, coupling, false);
  }
  const double estimate = account_.observe(point, coupling, last);
  if (budget_ && !std::isnan(estimate) && !account_.missing()) {
    budget_->observe(account_.elapsed(), account_.in_tolerances(settings_.method.adapt_tolerance));
  }
  if (!std::isnan(estimate)) {
    account_.remember_sizes();
  }
  return estimate;
}

void ErrorControl::require_result(const CommunicationPoint& point) const {
  if (account_.diverged() && settings_.diverged == Diverged::fail) {
    throw SimulationError(*account_.diverged() + "; " +
                          remedy_of_divergence(settings_, point.last_step));
  }
}

}  // namespace concord

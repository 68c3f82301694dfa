#include "stepping/error_budget.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// In units of the tolerance, at the end.
constexpr double wanted = 0.25;

/// Macro-steps' errors stay near the tolerance even where they do not add up, and above what
/// subsystems and coupling are solved to.
constexpr double smallest_share = 0.02;

/// What E may grow by at least, relative to itself.
constexpr double least_growth = 0.2;

/// Shares change by this factor at most.
constexpr double fastest_change = 2.0;

}  // namespace

double ErrorBudget::growth() const {
  return std::max(0.0, now_.error - quarter_.error) / (now_.spent - quarter_.spent);
}

double ErrorBudget::free() const {
  return std::max(wanted - now_.error, least_growth * std::max(wanted, now_.error));
}

void ErrorBudget::observe(double elapsed, double error) {
  if (!(elapsed > now_.elapsed) || !std::isfinite(error)) {
    return;
  }
  now_ = {elapsed, error, now_.spent + share_ * (elapsed - now_.elapsed)};
  const double left = growth() * (duration_ - elapsed);
  const double share = left * most > free() ? free() / left : most;
  share_ = std::clamp(std::clamp(share, share_ / fastest_change, share_ * fastest_change),
                      smallest_share, most);
  if (elapsed >= 2.0 * half_.elapsed) {
    quarter_ = half_;
    half_ = now_;
  }
}

}  // namespace concord

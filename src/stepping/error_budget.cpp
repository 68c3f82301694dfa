#include "stepping/error_budget.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// In units of the tolerance, at the end.
constexpr double wanted = 0.35;

/// Macro-steps' errors stay near the tolerance even where they do not add up, and above what
/// subsystems and coupling are solved to.
constexpr double largest_share = 4.0;
constexpr double smallest_share = 0.02;

/// Recent: this fraction of the time passed. Shares change by this factor at most.
constexpr double memory = 0.25;
constexpr double fastest_change = 2.0;

}  // namespace

void ErrorBudget::observe(double elapsed, double error) {
  const double dt = elapsed - elapsed_;
  if (!(dt > 0.0) || !std::isfinite(error)) {
    return;
  }
  const double now = std::max(0.0, error - error_) / (share_ * dt);
  const double weight = std::min(1.0, dt / (memory * elapsed));
  growth_ += weight * (now - growth_);
  elapsed_ = elapsed;
  error_ = error;
  const double left = growth_ * (duration_ - elapsed);
  const double free = std::max(0.0, wanted - error);
  const double share = left * largest_share > free ? free / left : largest_share;
  share_ = std::clamp(std::clamp(share, share_ / fastest_change, share_ * fastest_change),
                      smallest_share, largest_share);
}

}  // namespace concord

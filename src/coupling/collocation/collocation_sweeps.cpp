#include "coupling/collocation/collocation_sweeps.hpp"

#include <algorithm>
#include <limits>

namespace concord {
namespace {

using Derivatives = NodeSystem::Derivatives;

/// Sweeps that are worth no derivatives.
constexpr int cheap = 2;
/// Macro-steps after which it is tried again whether derivatives serve for longer.
constexpr int pause = 16;
/// A rate above which derivatives at a better place pay.
constexpr double too_slow = 0.1;
/// In units of sizes: derivatives where the solution was farther away are not those of its errors,
/// which go through the macro-step by them.
constexpr double far = 1e-2;
/// Of a rate that was seen in the macro-step before: it may have become worse.
constexpr double doubt = 10.0;
/// Sweeps that move more than the one before: Newton's method goes nowhere, or to a solution that
/// is none of the equations', from the next one on.
constexpr int astray = 3;
/// In units of sizes: what does not become less any more, and is below, is rounding.
constexpr double rounding = 1e-10;

}  // namespace

void CollocationSweeps::restart() {
  rate_ = 1.0;
  rest_ = 0;
  derived_ = false;
  off_ = 0.0;
}

Derivatives CollocationSweeps::choose(Derivatives first, double rate) const {
  const bool kept = first == Derivatives::kept && derived_ && rest_ == 0;
  const bool keeps = count_ == 0 ? kept : rate <= too_slow && off_ <= far;
  return keeps ? Derivatives::kept : Derivatives::fresh;
}

CollocationSweeps::End CollocationSweeps::run(NodeSystem& system, Derivatives first) {
  rate_ = std::min(doubt * rate_, 1.0);
  double rate = rate_, last = std::numeric_limits<double>::infinity();
  bool kept = true;
  int farther = 0;
  for (count_ = 0; count_ < most_;) {
    const Derivatives derivatives = choose(first, rate);
    kept = kept && derivatives == Derivatives::kept;
    const NodeSystem::Sweep sweep = system.sweep(derivatives);
    derived_ = true;
    if (sweep.failed) return End::failed;
    off_ = derivatives == Derivatives::fresh ? sweep.moved : off_;
    if (++count_ > 1) rate = std::min(sweep.moved / last, 1.0);
    left_ = (kept || count_ > 1 ? rate : 1.0) * sweep.moved;
    if (left_ <= tolerance_) {
      learn(kept, rate);
      return End::converged;
    }
    if (sweep.moved <= rounding && rate > 0.5 && count_ > cheap) return End::at_noise;
    if (sweep.late && deadline_.counts_after(count_ - 1)) {
      derived_ = false;  // the fewer sweeps there are, the more good derivatives are worth
      return End::out_of_time;
    }
    farther += sweep.moved > last ? 1 : 0;
    if (farther == astray) break;
    last = sweep.moved;
  }
  return End::slow;
}

/// Rates with derivatives from the guess depend on the guess, and tell nothing of the next ones.
void CollocationSweeps::learn(bool kept, double rate) {
  rate_ = kept ? rate : rate_;
  rest_ = kept && count_ > cheap ? pause : std::max(rest_ - 1, 0);
}

}  // namespace concord

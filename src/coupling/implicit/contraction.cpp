#include "coupling/implicit/contraction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A contraction holds for this many macro-steps of about the same size.
constexpr int lasting = 10;

}  // namespace

void Contraction::expect(double h) {
  count_ = 0;
  ++age_;
  const double ratio = remembered_h_ > 0.0 ? h / remembered_h_ : 0.0;
  if (age_ > lasting || ratio < 0.7 || ratio > 1.4) {
    remembered_ = 0.0;
  }
}

/// A mode that this macro-step did not excite may come back.
void Contraction::remember(double h) {
  constexpr double fading = 0.8;
  remembered_ = std::max(amplification(), fading * remembered_);
  remembered_h_ = h;
  age_ = 0;
}

void Contraction::forget() { remembered_ = 0.0; }

void Contraction::begin(double residual) {
  count_ = 1;
  residuals_[0] = residual;
  secants_[0] = 0.0;
}

void Contraction::add(double residual, double step, double change) {
  const auto place = static_cast<std::size_t>(count_ % length);
  residuals_[place] = residual;
  secants_[place] = change > 0.0 ? step / change : 0.0;
  ++count_;
}

double Contraction::amplification() const {
  if (count_ < 2) {
    return remembered_ > 0.0 ? remembered_ : unknown;
  }
  if (residual(0) == 0.0) {
    return 1.0;
  }
  double worst = 1.0;
  double sum = 0.0;
  int summed = 0;
  for (int m = 1; m < known(); m *= 2) {
    for (; summed < m; ++summed) {
      sum += residual(summed);
    }
    const double fallen = residual(0) / residual(m);
    const double to_come = fallen < 1.0 ? sum * fallen / (1.0 - fallen) : unknown;
    worst = std::max(worst, 1.0 + to_come / residual(0));
  }
  for (int back = 0; back + 1 < known(); ++back) {
    worst = std::max(worst, secants_[static_cast<std::size_t>((count_ - 1 - back) % length)]);
  }
  return worst;
}

double Contraction::last() const {
  return count_ > 1 && residual(1) > 0.0 ? residual(0) / residual(1) : 0.0;
}

double Contraction::rate() const {
  const int span = known() - 1;
  if (span < 1 || residual(span) == 0.0) {
    return 0.0;
  }
  return std::pow(residual(0) / residual(span), 1.0 / span);
}

}  // namespace concord

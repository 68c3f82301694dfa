#include "signal/history.hpp"

#include <algorithm>

namespace concord {

SignalHistory::SignalHistory(std::size_t signals, int order) : order_(order) {
  for (auto& values : values_) {
    values.resize(signals);
  }
}

void SignalHistory::push(double time, std::span<const Sample> samples) {
  newest_ = (newest_ + 1) % (max_order + 1);
  known_ = std::min(known_ + 1, max_order + 1);
  times_[slot(0)] = time;
  auto& values = values_[slot(0)];
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values[i] = samples[i].value;
  }
}

void SignalHistory::extrapolate(std::span<const std::size_t> signals,
                                std::span<Polynomial> result) const {
  const int points = std::min(order_ + 1, known_);
  // The weight of each point is a Lagrange basis polynomial in tau, the same for all signals.
  std::array<Polynomial, max_order + 1> basis{};
  for (int j = 0; j < points; ++j) {
    basis[j].c[0] = 1.0;
    int degree = 0;
    for (int m = 0; m < points; ++m) {
      if (m == j) {
        continue;
      }
      const double tau_m = time(m) - time(0);
      const double scale = 1.0 / (time(j) - time(m));
      ++degree;
      for (int p = degree; p >= 0; --p) {
        basis[j].c[p] = scale * ((p > 0 ? basis[j].c[p - 1] : 0.0) - tau_m * basis[j].c[p]);
      }
    }
  }
  for (const std::size_t i : signals) {
    result[i].c = {};
    for (int j = 0; j < points; ++j) {
      const double v = value(j, i);
      for (int p = 0; p < points; ++p) {
        result[i].c[p] += basis[j].c[p] * v;
      }
    }
  }
}

}  // namespace concord

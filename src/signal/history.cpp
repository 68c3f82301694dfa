#include "signal/history.hpp"

#include <algorithm>

namespace concord {

SignalHistory::SignalHistory(std::size_t signals, int order, Extrapolation kind)
    : order_(order), kind_(kind) {
  for (auto& values : values_) {
    values.resize(signals);
  }
  for (auto& slopes : slopes_) {
    slopes.resize(kind == Extrapolation::hermite ? signals : 0);
  }
}

double SignalHistory::tau(int age) const {
  double result = 0.0;
  for (int younger = 0; younger < age; ++younger) {
    result -= steps_[slot(younger)];
  }
  return result;
}

void SignalHistory::push(double h, std::span<const Sample> samples) {
  newest_ = (newest_ + 1) % (max_order + 1);
  known_ = std::min(known_ + 1, max_order + 1);
  steps_[slot(0)] = h;
  auto& values = values_[slot(0)];
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values[i] = samples[i].value;
  }
  auto& slopes = slopes_[slot(0)];
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    slopes[i] = samples[i].derivative;
  }
}

void SignalHistory::start(std::span<const Sample> samples, bool slopes_known) {
  known_ = 0;
  push(0.0, samples);
  start_slopes_.clear();
  for (std::size_t i = 0; slopes_known && i < samples.size(); ++i) {
    start_slopes_.push_back(samples[i].derivative);
  }
}

/// The weight of each of the newest points: a Lagrange basis polynomial in tau.
SignalHistory::Basis SignalHistory::lagrange(int points) const {
  Basis basis{};
  for (int j = 0; j < points; ++j) {
    basis[j].c[0] = 1.0;
    int degree = 0;
    for (int m = 0; m < points; ++m) {
      if (m == j) {
        continue;
      }
      const double tau_m = tau(m);
      const double scale = 1.0 / (tau(j) - tau_m);
      ++degree;
      for (int p = degree; p >= 0; --p) {
        basis[j].c[p] = scale * ((p > 0 ? basis[j].c[p - 1] : 0.0) - tau_m * basis[j].c[p]);
      }
    }
  }
  return basis;
}

/// The product of (tau - tau_m) over the newest points, at most three.
Polynomial SignalHistory::product(int points) const {
  Polynomial result{{1.0, 0.0, 0.0, 0.0}};
  for (int m = 0; m < points; ++m) {
    const double tau_m = tau(m);
    for (int p = m + 1; p >= 0; --p) {
      result.c[p] = (p > 0 ? result.c[p - 1] : 0.0) - tau_m * result.c[p];
    }
  }
  return result;
}

/// Hermite: adds a multiple of the product of all (tau - tau_m), which changes no value at a point.
void SignalHistory::add_start_slope(int points, std::span<const std::size_t> signals,
                                    std::span<Polynomial> result) const {
  const double tau_start = tau(points - 1);
  const Polynomial vanishing = product(points);
  const double slope_of_product = vanishing.derivative(tau_start);
  for (const std::size_t i : signals) {
    const double weight = (start_slopes_[i] - result[i].derivative(tau_start)) / slope_of_product;
    for (int p = 0; p <= points; ++p) {
      result[i].c[p] += weight * vanishing.c[p];
    }
  }
}

void SignalHistory::through_newest(int points, std::span<const std::size_t> signals,
                                   std::span<Polynomial> result) const {
  const Basis basis = lagrange(points);
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

/// Newton's form through u_0, u'_0, u_1, u'_1, as many of them as order and past give; tau_0 = 0.
Polynomial SignalHistory::tangent(std::size_t signal) const {
  const int conditions = std::min(order_ + 1, 2 * known_);
  Polynomial p{{value(0, signal), 0.0, 0.0, 0.0}};
  if (conditions > 1) {
    p.c[1] = slopes_[slot(0)][signal];
  }
  if (conditions > 2) {
    const double tau_1 = tau(1);
    p.c[2] = (value(1, signal) - p(tau_1)) / (tau_1 * tau_1);
    if (conditions > 3) {
      p.c[3] = (slopes_[slot(1)][signal] - p.derivative(tau_1)) / (tau_1 * tau_1);
      p.c[2] -= p.c[3] * tau_1;
    }
  }
  return p;
}

void SignalHistory::extrapolate(std::span<const std::size_t> signals,
                                std::span<Polynomial> result) const {
  if (kind_ == Extrapolation::hermite) {
    for (const std::size_t i : signals) {
      result[i] = tangent(i);
    }
    return;
  }
  const int points = std::min(order_ + 1, known_);
  through_newest(points, signals, result);
  if (points <= order_ && !start_slopes_.empty()) {
    add_start_slope(points, signals, result);
  }
}

void SignalHistory::through_newest_and(int points, double h, std::span<const std::size_t> signals,
                                       std::span<const Sample> ends,
                                       std::span<Polynomial> result) const {
  through_newest(points, signals, result);
  const Polynomial vanishing = product(points);
  for (const std::size_t i : signals) {
    const double weight = (ends[i].value - result[i](h)) / vanishing(h);
    for (int p = 0; p <= points; ++p) {
      result[i].c[p] += weight * vanishing.c[p];
    }
  }
}

void SignalHistory::interpolate(double h, std::span<const std::size_t> signals,
                                std::span<const Sample> ends, std::span<Polynomial> result) const {
  if (kind_ == Extrapolation::lagrange) {
    through_newest_and(std::min({std::max(order_, 1), known_, max_order}), h, signals, ends,
                       result);
    return;
  }
  for (const std::size_t i : signals) {
    const Sample begin{value(0, i), slopes_[slot(0)][i]};
    result[i] = from_guess(Hold::hermite, begin, ends[i], h, true);
  }
}

void SignalHistory::reconstruct(double h, std::span<const std::size_t> signals,
                                std::span<const Sample> ends, std::span<Polynomial> result) const {
  through_newest_and(std::min(known_, max_order), h, signals, ends, result);
}

}  // namespace concord

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

void SignalHistory::start(double time, std::span<const Sample> samples, bool slopes_known) {
  known_ = 0;
  push(time, samples);
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
      const double tau_m = time(m) - time(0);
      const double scale = 1.0 / (time(j) - time(m));
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
    const double tau_m = time(m) - time(0);
    for (int p = m + 1; p >= 0; --p) {
      result.c[p] = (p > 0 ? result.c[p - 1] : 0.0) - tau_m * result.c[p];
    }
  }
  return result;
}

/// Hermite: adds a multiple of the product of all (tau - tau_m), which changes no value at a point.
void SignalHistory::add_start_slope(int points, std::span<const std::size_t> signals,
                                    std::span<Polynomial> result) const {
  const double tau_start = time(points - 1) - time(0);
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

void SignalHistory::extrapolate(std::span<const std::size_t> signals,
                                std::span<Polynomial> result) const {
  const int points = std::min(order_ + 1, known_);
  through_newest(points, signals, result);
  if (points <= order_ && !start_slopes_.empty()) {
    add_start_slope(points, signals, result);
  }
}

void SignalHistory::interpolate(double h, std::span<const std::size_t> signals,
                                std::span<const Sample> ends, std::span<Polynomial> result) const {
  const int points = std::min({std::max(order_, 1), known_, max_order});
  through_newest(points, signals, result);
  const Polynomial vanishing = product(points);
  for (const std::size_t i : signals) {
    const double weight = (ends[i].value - result[i](h)) / vanishing(h);
    for (int p = 0; p <= points; ++p) {
      result[i].c[p] += weight * vanishing.c[p];
    }
  }
}

}  // namespace concord

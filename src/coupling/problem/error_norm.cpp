#include "coupling/problem/error_norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "signal/smallest_size.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Relative error of signals that rise from nothing, at most.
constexpr double roughly_right = 10.0;

/// Increase of n, in y ~ t^n, from which on a signal grows by itself.
constexpr double own_growth = 3.0;

/// Of the time in which a signal becomes another, for a tolerance of 1.
constexpr double usual_share = 1.5;

}  // namespace

ErrorNorm::ErrorNorm(MPI_Comm comm, const Tolerance& tolerance, int order, std::size_t integrations,
                     std::size_t count)
    : comm_(comm),
      tolerance_(tolerance),
      integrations_(static_cast<double>(integrations)),
      signals_(count) {
  set_order(order);
}

void ErrorNorm::set_order(int order) {
  order_ = order;
  most_ = integrations_ + order;
  share_ = usual_share * std::pow(tolerance_.relative, 1.0 / (order + 1));
}

void ErrorNorm::restart() {
  std::fill(signals_.begin(), signals_.end(), Signal{});
  elapsed_ = 0.0;
}

void ErrorNorm::begin(double h) {
  worst_ = 0.0;
  h_ = h;
}

/// The time up to which t^n/n! rises, in units of the time it has risen for (Stirling).
double ErrorNorm::ahead(double n) const {
  return std::max(1.0, n / std::numbers::e) * h_ / (share_ * (elapsed_ + h_));
}

/// Of a signal that rises: what it will be; of one that wakes up within the macro-step, the largest
/// that a trial has shown.
double ErrorNorm::size(const Signal& signal, double known) const {
  if (wakes(signal)) {
    return std::max(known, signal.shown);
  }
  const double most = std::max(1.0, roughly_right / tolerance_.relative);
  if (signal.exponent == 0.0) {
    return known * most;
  }
  return known * std::clamp(std::pow(ahead(signal.exponent), signal.exponent), 1.0, most);
}

/// Not by growing smoothly from nothing; steps of low order are short beside any growth.
bool ErrorNorm::wakes(const Signal& signal) const {
  constexpr int high_order = 3;
  return (elapsed_ > 0.0 || order_ < high_order) && signal.last == 0.0 &&
         signal.shown >= smallest_size;
}

void ErrorNorm::add(std::size_t i, double estimate, double magnitude, double size_so_far,
                    double noise, Rise rise) {
  Signal& signal = signals_[i];
  const double seen = signal.rises ? std::max(magnitude, std::abs(estimate)) : magnitude;
  signal.trial = magnitude;
  signal.seen = std::isfinite(seen) ? seen : 0.0;
  signal.shown = std::max(signal.shown, signal.seen);
  double known = std::max({size_so_far, seen, signal.begun});
  if (signal.rises && rise == Rise::goes_on) {
    known = size(signal, known);
  }
  const double error = std::abs(estimate) - noise;
  if (error > 0.0 || std::isnan(error)) {
    const double ratio = error / std::max(tolerance_.of(known, known), smallest_size);
    worst_ = std::max(worst_, std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
  }
}

double ErrorNorm::noise(double terms) const {
  return std::max(inner_fraction * tolerance_.relative * std::abs(terms), rounding(terms));
}

double ErrorNorm::worst() const { return agree_on_largest(comm_, worst_); }

void ErrorNorm::commit() {
  for (Signal& signal : signals_) {
    signal.begun = signal.rises ? std::max(signal.begun, signal.seen) : signal.begun;
    if (signal.rises && signal.trial > 0.0) {
      follow(signal);
    }
    signal.last = signal.trial;
    signal.shown = 0.0;
  }
  elapsed_ += h_;
}

/// n between two communication points is log(y_{N+1}/y_N) / log(t_{N+1}/t_N).
void ErrorNorm::follow(Signal& signal) const {
  if (signal.last == 0.0 || elapsed_ == 0.0) {
    signal.rises = !wakes(signal);
    return;
  }
  const double n = std::log(signal.trial / signal.last) / std::log1p(h_ / elapsed_);
  signal.least = signal.exponent > 0.0 ? std::min(signal.least, n) : n;
  signal.exponent = n;
  const bool by_itself = n <= 0.0 || n > std::min(most_, own_growth * signal.least);
  signal.rises = !by_itself && n > order_ + 0.5;
}

}  // namespace concord

#include "subsystem/slow/window_inputs.hpp"

#include <array>

namespace concord {
namespace {

constexpr std::size_t most_points = 4;

/// Newton's form, whose differences of equal values are exactly zero, in powers of tau.
Polynomial through(std::span<const double> times, std::array<double, most_points> values) {
  const std::size_t n = times.size();
  for (std::size_t order = 1; order < n; ++order) {
    for (std::size_t j = n - 1; j >= order; --j) {
      values[j] = (values[j] - values[j - 1]) / (times[j] - times[j - order]);
    }
  }
  Polynomial result{{values[n - 1], 0.0, 0.0, 0.0}};
  for (std::size_t j = n - 1; j-- > 0;) {
    for (std::size_t power = most_points - 1; power > 0; --power) {
      result.c[power] = result.c[power - 1] - times[j] * result.c[power];
    }
    result.c[0] = values[j] - times[j] * result.c[0];
  }
  return result;
}

}  // namespace

void WindowInputs::add(double h, std::span<const Polynomial> inputs) {
  times_.push_back(size_);
  for (const Polynomial& input : inputs) {
    values_.push_back(input(0.0));
  }
  last_.assign(inputs.begin(), inputs.end());
  last_size_ = h;
  size_ += h;
}

std::span<const Polynomial> WindowInputs::over_window() {
  const std::size_t inputs = last_.size(), steps = times_.size();
  if (steps == 1) return last_;
  const bool looks_back = steps == 2 && !before_.empty();
  std::vector<std::size_t> points{0};
  for (const std::size_t point : {(steps + 1) / 3, (2 * steps + 1) / 3}) {
    if (point > points.back() && point < steps) points.push_back(point);
  }
  std::vector<double> times;
  if (looks_back) times.push_back(before_time_);
  for (const std::size_t point : points) times.push_back(times_[point]);
  times.push_back(size_);
  for (std::size_t i = 0; i < inputs; ++i) {
    std::array<double, most_points> values{};
    std::size_t known = 0;
    if (looks_back) values[known++] = before_[i];
    for (const std::size_t point : points) values[known++] = values_[point * inputs + i];
    values[known] = last_[i](last_size_);
    over_window_[i] = through(times, values);
  }
  return over_window_;
}

void WindowInputs::end_window() {
  if (times_.empty()) return;
  before_time_ = times_.back() - size_;
  before_.assign(values_.end() - static_cast<std::ptrdiff_t>(last_.size()), values_.end());
  times_.clear();
  values_.clear();
  size_ = 0.0;
}

void WindowInputs::begin_anew() {
  end_window();
  before_.clear();
}

}  // namespace concord

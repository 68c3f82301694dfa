#pragma once

#include <string>
#include <vector>

#include "concord/polynomial.hpp"

namespace concord {

/// Signals given by rows of values at times that don't fall: linear between rows, or held until
/// the next one; constant before the first row and after the last. The same time twice is a jump.
class SampledSignals {
 public:
  struct Signal {
    std::string name;
    std::vector<double> values;  ///< one per row
    bool held = false;
  };

  SampledSignals() = default;
  /// At least one row; every signal has as many values as there are times.
  SampledSignals(std::vector<double> times, std::vector<Signal> signals)
      : times_(std::move(times)), signals_(std::move(signals)) {}

  const std::vector<Signal>& signals() const { return signals_; }

  /// The limits at t from the right and from the left.
  Sample from_right(std::size_t signal, double t) const;
  Sample from_left(std::size_t signal, double t) const;

  /// The first row after t; infinite where there is none. Between rows all signals are polynomials.
  double next_row(double t) const;

  /// Where some signal jumps, ascending.
  std::vector<double> jumps() const;

 private:
  Sample on_line(const Signal& signal, std::size_t row, double t) const;

  std::vector<double> times_;
  std::vector<Signal> signals_;
};

}  // namespace concord

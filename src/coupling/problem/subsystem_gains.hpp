#pragma once

#include <span>
#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// K of every own subsystem: how its (y, y', y'') at t_{N+1} answer to its connected inputs'
/// (u, u', u'') there. Dense blocks, rows (output, part) and columns (connected input, part), part
/// running fastest; `parts` is 1 (values), 2 (and slopes) or 3 (and curvatures).
class SubsystemGains {
 public:
  SubsystemGains(const RankNetwork& subsystems, int parts);

  int parts() const { return parts_; }

  /// Local indices of the connected inputs of own subsystem k.
  std::span<const std::size_t> inputs(std::size_t k) const { return inputs_[k]; }
  std::size_t columns(std::size_t k) const { return inputs_[k].size() * parts_; }

  /// Whether every entry is.
  bool finite() const;

  double& at(std::size_t k, std::size_t row, std::size_t column) {
    return values_[k][row * columns(k) + column];
  }
  double at(std::size_t k, std::size_t row, std::size_t column) const {
    return values_[k][row * columns(k) + column];
  }

  void io(Archive& archive);

 private:
  int parts_;
  std::vector<std::vector<std::size_t>> inputs_;
  std::vector<std::vector<double>> values_;
};

}  // namespace concord

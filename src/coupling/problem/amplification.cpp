#include "coupling/problem/amplification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/sample_parts.hpp"
#include "support/agreement.hpp"

namespace concord {

Amplification::Amplification(RankNetwork& subsystems)
    : subsystems_(subsystems),
      offsets_(subsystems.n_inputs()),
      outputs_(subsystems.n_outputs()),
      fed_(subsystems.n_inputs()) {
  subsystems.exchange(outputs_, offsets_);
}

double Amplification::multiply(const SubsystemGains& gains, std::span<const double> scale,
                               std::span<const double> residual_scale) {
  const auto parts = static_cast<std::size_t>(gains.parts());
  std::size_t first = 0;
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    const std::size_t columns = gains.columns(k);
    const IndexRange outputs = subsystems_.outputs_of(k);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      Sample sums;
      for (std::size_t part = 0; part < parts; ++part) {
        for (std::size_t c = 0; c < columns; ++c) {
          sums.*sample_parts[part] +=
              std::abs(gains.at(k, o * parts + part, c)) * scale[first + c] * power_[first + c];
        }
      }
      outputs_[outputs.first + o] = sums;
    }
    first += columns;
  }
  subsystems_.exchange(outputs_, fed_);
  double largest = 0.0;
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    Sample& fed = fed_[connected[j]];
    fed.value -= offsets_[connected[j]].value;
    for (std::size_t part = 0; part < parts; ++part) {
      power_[j * parts + part] =
          std::abs(fed.*sample_parts[part]) / residual_scale[j * parts + part];
      largest = std::max(largest, power_[j * parts + part]);
    }
  }
  return largest;
}

double Amplification::bound(const SubsystemGains& gains, std::span<const double> scale,
                            std::span<const double> residual_scale) {
  constexpr int most_powers = 4;
  constexpr double small = 0.1;
  power_.assign(scale.size(), 1.0);
  sum_ = power_;
  for (int m = 1; m <= most_powers; ++m) {
    double largest[2] = {multiply(gains, scale, residual_scale),
                         sum_.empty() ? 0.0 : *std::max_element(sum_.begin(), sum_.end())};
    agree_on_largest(subsystems_.comm(), largest);
    if (largest[0] < (m < most_powers ? small : 1.0)) {
      return largest[1] / (1.0 - largest[0]);
    }
    for (std::size_t row = 0; row < sum_.size(); ++row) {
      sum_[row] += power_[row];
    }
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace concord

#include "coupling/implicit/missed_growth.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {

void MissedGrowth::look(const InputMisses& misses, std::span<const Sample> fed) {
  factor_ = 1.0;
  if (!misses.noticeable() || !misses.finite()) {
    return;
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double now = std::abs(fed[connected[j]].value);
    if (missed_ == 0) {
      const double before = subsystems_.input_sizes()[connected[j]];
      sizes_[j] = before > 0.0 ? before : now;
    }
    factor_ = sizes_[j] > 0.0 ? std::max(factor_, now / sizes_[j]) : factor_;
  }
  factor_ = agree_on_largest(subsystems_.comm(), factor_);
}

/// Where a subsystem jumps, one or two macro-steps miss it.
bool MissedGrowth::astray(const InputMisses& misses) const {
  constexpr int most_missed = 3;
  constexpr double most_growth = 100.0;
  return misses.far_off() && far_off_ + 1 >= most_missed && factor_ > most_growth;
}

void MissedGrowth::commit(const InputMisses& misses) {
  missed_ = misses.noticeable() ? missed_ + 1 : 0;
  far_off_ = misses.far_off() ? far_off_ + 1 : 0;
}

}  // namespace concord

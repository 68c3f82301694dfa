#include "coupling/problem/constraint_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/problem/carried_constraints.hpp"

namespace concord {
namespace {

/// Beside what it is a sum of, an output this small is nothing but rounding.
constexpr double rounding = 1e-10;

}  // namespace

ConstraintSizes::ConstraintSizes(RankNetwork& subsystems)
    : subsystems_(subsystems),
      sizes_(subsystems.n_inputs()),
      offsets_(subsystems.n_inputs()),
      at_outputs_(subsystems.n_outputs()) {
  for (const auto& carried : carried_constraints(subsystems.network())) {
    any_ = true;
    for (const std::size_t k : subsystems.all()) {
      if (std::binary_search(carried.carriers.begin(), carried.carriers.end(),
                             subsystems.global(k))) {
        carriers_.push_back(k);
      }
    }
  }
  std::sort(carriers_.begin(), carriers_.end());
  carriers_.erase(std::unique(carriers_.begin(), carriers_.end()), carriers_.end());
  if (any_) {
    subsystems_.exchange(at_outputs_, offsets_);
  }
}

/// Into at_outputs_: sizes of own subsystem k's outputs that are rounding; 0 for the others.
void ConstraintSizes::find(std::size_t k, std::span<const Sample> inputs,
                           std::span<const Sample> outputs) {
  if (!subsystems_.feedthrough(k, inputs, g_u_)) {
    return;
  }
  const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
  for (std::size_t o = 0; o < out.size(); ++o) {
    double terms = 0.0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      terms += std::abs(g_u_[o * in.size() + i] * inputs[in.first + i].value);
    }
    const double known =
        std::max(std::abs(outputs[out.first + o].value), subsystems_.output_sizes()[out.first + o]);
    at_outputs_[out.first + o].value = known < rounding * terms ? terms : 0.0;
  }
}

void ConstraintSizes::see(std::span<const Sample> inputs, std::span<const Sample> outputs) {
  const std::int64_t n = seen_++;
  if (!any_ || (n & (n - 1)) != 0) {
    return;
  }
  std::fill(at_outputs_.begin(), at_outputs_.end(), Sample{});
  for (const std::size_t k : carriers_) {
    find(k, inputs, outputs);
  }
  subsystems_.exchange(at_outputs_, sizes_);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    sizes_[i].value = std::abs(sizes_[i].value - offsets_[i].value);
  }
  subsystems_.raise_sizes(sizes_, at_outputs_);
}

}  // namespace concord

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "concord/polynomial.hpp"
#include "support/scratch.hpp"

namespace concord {

/// The values of inputs, in `scratch`.
inline std::span<const double> values_of(std::span<const Sample> inputs, Scratch& scratch) {
  const std::span<double> result = scratch.numbers(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) result[i] = inputs[i].value;
  return result;
}

/// Inputs at tau with their slopes, in `scratch`.
inline std::span<const Sample> samples_of(std::span<const Polynomial> inputs, double tau,
                                          Scratch& scratch) {
  static_assert(sizeof(Sample) % sizeof(double) == 0 && alignof(Sample) == alignof(double));
  constexpr std::size_t numbers = sizeof(Sample) / sizeof(double);
  void* const place = scratch.numbers(numbers * inputs.size()).data();
  Sample* const first = static_cast<Sample*>(place);
  for (std::size_t i = 0; i < inputs.size(); ++i) std::construct_at(first + i, inputs[i].at(tau));
  return {first, inputs.size()};
}

}  // namespace concord

#include "simulation/memory_at_rest.hpp"

#include <cstring>
#include <string>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

template <class T>
std::uint64_t sum_of_bits(std::span<const T> values) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t i = 0; i < values.size_bytes(); i += sizeof word) {
    std::memcpy(&word, reinterpret_cast<const char*>(values.data()) + i, sizeof word);
    sum += word;
  }
  return sum;
}

template <class T>
std::uint64_t sum_of_part(const std::vector<T>& all, IndexRange range) {
  return sum_of_bits(std::span<const T>(all).subspan(range.first, range.size()));
}

}  // namespace

std::int64_t MemoryAtRest::sum_of(std::size_t k, const CommunicationPoint& point,
                                  std::span<const double> whole) const {
  const IndexRange states = subsystems_.states_of(k), inputs = subsystems_.inputs_of(k);
  const bool held_there = whole.size() >= states.last && !whole.empty();
  const std::span<const double> x =
      held_there ? whole.subspan(states.first, states.size()) : subsystems_.own(k).states();
  return static_cast<std::int64_t>(sum_of_bits(x) + sum_of_part(point.inputs, inputs) +
                                   sum_of_part(point.polynomials, inputs) +
                                   sum_of_part(point.outputs, subsystems_.outputs_of(k)));
}

void MemoryAtRest::begin(const CommunicationPoint& point, std::span<const double> whole) {
  for (const std::size_t k : subsystems_.all()) sums_[k] = sum_of(k, point, whole);
  known_ = true;
}

void MemoryAtRest::require_unchanged(const CommunicationPoint& point,
                                     std::span<const double> whole) {
  if (!known_) return;
  for (const std::size_t k : subsystems_.all()) {
    if (sum_of(k, point, whole) == sums_[k]) continue;
    subsystems_.at_point(k, [&] {
      throw SimulationError("its states, inputs or outputs at t = " + short_number(point.time) +
                            " s are not those that the last macro-step ended with: memory has "
                            "changed by itself; go on from a checkpoint (-cosim_restart auto), "
                            "elsewhere if it happens again");
    });
  }
}

}  // namespace concord

#include "coupling/implicit/input_misses.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "signal/smallest_size.hpp"
#include "support/agreement.hpp"

namespace concord {

InputMisses::Row InputMisses::row(std::size_t j, const Trial& trial,
                                  std::span<const Sample> fed) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const double value = constraints_.size(j, trial.inputs);
  const double size = constraints_.is_equation(j)
                          ? std::max(value, constraints_.usual_size(j))
                          : std::max({subsystems_.input_sizes()[i], value, std::abs(fed[i].value)});
  return {std::abs(constraints_.rest_of(j, trial.inputs[i], fed[i], trial.outputs).value), value,
          size};
}

/// By how much of its size input j misses what feeds it; of one that has never been anything but 0
/// nobody can say.
double InputMisses::miss(std::size_t j, const Row& row) const {
  const double known = constraints_.is_equation(j)
                           ? row.size
                           : subsystems_.input_sizes()[subsystems_.connected_inputs()[j]];
  return (known > 0.0 || !std::isfinite(row.rest)) && row.rest != 0.0 ? row.rest / row.size : 0.0;
}

void InputMisses::measure(const Trial& trial, std::span<const Sample> fed, Outcome outcome) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  subsystems_.deadline().corrected();
  double worst[3] = {outcome == Outcome::ok ? 0.0 : unknown, 0.0,
                     subsystems_.deadline().is_near() ? 1.0 : 0.0};
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    const Row own = row(j, trial, fed);
    const double missed = miss(j, own);
    worst[0] = std::isfinite(missed) ? std::max(worst[0], missed) : unknown;
    if (own.rest > 0.0) {
      const double allowed = tolerance_.of(own.value, own.size);
      worst[1] = std::max(worst[1], own.rest / std::max(allowed, smallest_size));
    }
  }
  agree_on_largest(subsystems_.comm(), worst);
  largest_ = worst[0];
  ratio_ = worst[1];
  late_ = worst[2] != 0.0;
}

std::string InputMisses::worst(const Trial& trial, std::span<const Sample> fed) const {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (miss(j, row(j, trial, fed)) < largest_) {
      continue;
    }
    const std::size_t i = connected[j];
    std::size_t k = 0;
    while (subsystems_.inputs_of(k).last <= i) {
      ++k;
    }
    const auto& subsystem = subsystems_.own(k).description();
    std::ostringstream words;
    words << "input '" << subsystem.name << "."
          << subsystem.inputs[i - subsystems_.inputs_of(k).first].name << "' was predicted as "
          << trial.inputs[i].value << " and is fed " << fed[i].value;
    return words.str();
  }
  return {};
}

}  // namespace concord

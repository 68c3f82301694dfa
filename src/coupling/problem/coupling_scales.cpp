#include "coupling/problem/coupling_scales.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/problem/rank_memory.hpp"
#include "signal/sample_parts.hpp"
#include "signal/smallest_size.hpp"

namespace concord {
namespace {

/// Scales that are off by more than this are taken anew: direct solvers hardly mind, factors cost.
constexpr double far = 1e6;

/// However small the absolute tolerance is, a signal that passes zero has no scale of zero.
constexpr double least = 1e-3;

double magnitude(const Sample& sample, double h) {
  const double value = std::max(std::abs(sample.value), h * std::abs(sample.derivative));
  return std::isfinite(value) && value >= smallest_size ? value : 0.0;
}

}  // namespace

CouplingScales::CouplingScales(const RankNetwork& subsystems, const ConstraintRows& constraints,
                               const Tolerance& tolerance, int parts)
    : subsystems_(subsystems),
      constraints_(constraints),
      tolerance_(tolerance),
      parts_(static_cast<std::size_t>(parts)),
      unknown_(subsystems.connected_inputs().size() * parts_, 1.0),
      residual_(unknown_),
      equation_sizes_(subsystems.connected_inputs().size(), 0.0) {}

void CouplingScales::see(const CommunicationPoint& point) {
  for (std::size_t j = 0; constraints_.any() && j < equation_sizes_.size(); ++j) {
    if (constraints_.is_equation(j)) {
      equation_sizes_[j] = std::max(equation_sizes_[j], constraints_.size(j, point.inputs));
    }
  }
}

double CouplingScales::size(std::size_t j, const Sample& input, const Sample& fed, double h) const {
  const double known = subsystems_.input_sizes()[subsystems_.connected_inputs()[j]];
  return known > 0.0 ? known : std::max(magnitude(input, h), magnitude(fed, h));
}

double CouplingScales::row_size(std::size_t j, std::span<const Sample> inputs,
                                std::span<const Sample> fed, double h) const {
  if (constraints_.is_equation(j)) {
    return std::max({equation_sizes_[j], constraints_.size(j, inputs), constraints_.usual_size(j)});
  }
  const std::size_t i = subsystems_.connected_inputs()[j];
  return size(j, inputs[i], fed[i], h);
}

double CouplingScales::unknown_tolerance(std::size_t j, const Sample& input, const Sample& fed,
                                         double h) const {
  return std::max(tolerance_.of(input.value, size(j, input, fed, h)), smallest_size);
}

double CouplingScales::row_tolerance(std::size_t j, std::span<const Sample> inputs,
                                     std::span<const Sample> fed, double h) const {
  const double size = row_size(j, inputs, fed, h);
  return std::max(tolerance_.of(constraints_.size(j, inputs), size), smallest_size);
}

void CouplingScales::take(std::span<const Sample> inputs, std::span<const Sample> fed, double h) {
  const auto scale = [&](double value, double size) {
    const double result = std::max(std::abs(value) + tolerance_.floor(size), least * size);
    return result >= smallest_size && std::isfinite(result) ? result : 1.0;
  };
  const auto weights = part_weights(h);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const double values[2] = {scale(inputs[i].value, size(j, inputs[i], fed[i], h)),
                              scale(constraints_.size(j, inputs), row_size(j, inputs, fed, h))};
    for (std::size_t part = 0; part < parts_; ++part) {
      unknown_[j * parts_ + part] = values[0] / weights[part];
      residual_[j * parts_ + part] = values[1] / weights[part];
    }
  }
}

void CouplingScales::io(Archive& archive) {
  CONCORD_MEMBERS_PER(archive, Per::connected, equation_sizes_);
  pass_parts(archive, parts_, unknown_);
  pass_parts(archive, parts_, residual_);
}

bool CouplingScales::outdated(std::span<const Sample> inputs) const {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const double known = subsystems_.input_sizes()[i];
    const double fitting =
        std::max(std::abs(inputs[i].value) + tolerance_.floor(known), least * known);
    if (known > 0.0 &&
        (fitting > far * unknown_[j * parts_] || fitting * far < unknown_[j * parts_])) {
      return true;
    }
  }
  return false;
}

bool CouplingScales::some_unknown() const {
  const auto& connected = subsystems_.connected_inputs();
  return std::any_of(connected.begin(), connected.end(),
                     [&](std::size_t i) { return !(subsystems_.input_sizes()[i] > 0.0); });
}

}  // namespace concord

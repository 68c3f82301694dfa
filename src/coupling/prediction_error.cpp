#include "coupling/prediction_error.hpp"

#include <algorithm>
#include <cmath>

#include "support/agreement.hpp"

namespace concord {

PredictionError::PredictionError(const RankNetwork& subsystems, double rtol, double atol)
    : subsystems_(subsystems),
      constraints_(subsystems),
      rtol_(rtol),
      atol_(atol),
      largest_(subsystems.connected_inputs().size(), 0.0) {}

/// In the first macro-step nothing is known of u'''': the whole cubic term stands for the error.
double PredictionError::hold_error(std::size_t input, const Polynomial& polynomial, double h,
                                   const CommunicationPoint& point) const {
  if (point.last_step == 0.0) {
    return std::abs(polynomial.c[3]) * h * h * h;
  }
  const double change = 6.0 * (polynomial.c[3] - point.polynomials[input].c[3]);
  const double fourth_derivative = change / (0.5 * (h + point.last_step));
  return std::abs(fourth_derivative) * h * h * h * h / 720.0;
}

double PredictionError::norm(const MacroStep& step, const CommunicationPoint& point,
                             const Trial& trial, std::span<const Sample> fed) const {
  const auto& connected = subsystems_.connected_inputs();
  double sum = 0.0;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const double estimate = std::abs(trial.inputs[i].value - fed[i].value) +
                            hold_error(i, trial.polynomials[i], step.size(), point);
    const double weight = atol_ + rtol_ * std::max(largest_[j], constraints_.size(j, trial.inputs));
    sum += estimate / weight * (estimate / weight);
  }
  const double total = agree_on_sum(subsystems_.comm(), sum);
  const double count = agree_on_sum(subsystems_.comm(), static_cast<double>(connected.size()));
  return count > 0.0 ? std::sqrt(total / count) : 0.0;
}

void PredictionError::commit(const CommunicationPoint& point) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    largest_[j] = std::max(largest_[j], constraints_.size(j, point.inputs));
  }
}

}  // namespace concord

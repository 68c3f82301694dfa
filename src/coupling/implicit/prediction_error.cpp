#include "coupling/implicit/prediction_error.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/implicit/output_terms.hpp"

namespace concord {

PredictionError::PredictionError(RankNetwork& subsystems, const Hold& hold,
                                 const Tolerance& tolerance)
    : subsystems_(subsystems),
      degree_(hold.degree),
      constraints_(subsystems),
      norm_(subsystems.comm(), tolerance, degree_, subsystems.network().n_integrations(),
            subsystems.connected_inputs().size()),
      largest_(subsystems.connected_inputs().size(), 0.0),
      highest_(largest_.size(), 0.0),
      over_(largest_.size(), 0.0) {
  if (tolerance.of_range) {
    ranges_.emplace(largest_.size());
  }
}

void PredictionError::restart(const CommunicationPoint& point) {
  const auto& connected = subsystems_.connected_inputs();
  norm_.restart();
  forget_reached();
  see(point);
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample& input = point.inputs[connected[j]];
    const bool steep = point.slopes_known && input.derivative != 0.0;
    const bool unknown = size(j) == 0.0 || (!constraints_.is_equation(j) &&
                                            subsystems_.input_sizes().only_expected(connected[j]));
    if (unknown && !steep && constraints_.size(j, point.inputs) == 0.0) {
      norm_.begins_at_zero(j);
    }
  }
}

/// Of inputs that are fed by whom an event has reached, and by constraints, whose unknowns may jump
/// where nothing jumps that they look at. Others go on as they did.
void PredictionError::forget_reached() {
  std::vector<Sample> reached(subsystems_.n_outputs()), fed(subsystems_.n_inputs());
  subsystems_.exchange(reached, fed);
  const std::vector<Sample> by_none = fed;
  for (const std::size_t k : subsystems_.all()) {
    const bool any =
        subsystems_.touched().contains(k) || subsystems_.own(k).description().constraint;
    const IndexRange out = subsystems_.outputs_of(k);
    for (std::size_t o = out.first; any && o < out.last; ++o) reached[o].value = 1.0;
  }
  subsystems_.exchange(reached, fed);
  for (std::size_t j = 0; j < over_.size(); ++j) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    over_[j] = fed[i].value != by_none[i].value ? 0.0 : over_[j];
  }
}

/// In the first macro-step nothing is known of u'''': the whole cubic term stands for the error.
double PredictionError::hold_error(std::size_t j, const Polynomial& polynomial, double h) const {
  const auto highest = static_cast<std::size_t>(degree_);
  const auto times_power = [h](double coefficient, int power) {
    double term = std::abs(coefficient);
    for (int k = 0; k < power; ++k) {
      term *= h;
    }
    return term;
  };
  if (over_[j] == 0.0) {
    return times_power(polynomial.c[highest], degree_);
  }
  const bool cubic = degree_ == 3;
  const double factorial = cubic ? 6.0 : 120.0;
  const double mean = cubic ? 720.0 : 100800.0;
  const double change = factorial * (polynomial.c[highest] - highest_[j]);
  return times_power(change / (0.5 * (h + over_[j])), degree_ + 1) / mean;
}

void PredictionError::see(const CommunicationPoint& point) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; ranges_ && j < connected.size(); ++j) {
    ranges_->see(j, point.inputs[connected[j]].value);
  }
}

double PredictionError::size(std::size_t j) const {
  if (constraints_.is_equation(j)) {
    return largest_[j];
  }
  const double size = subsystems_.input_sizes()[subsystems_.connected_inputs()[j]];
  return ranges_ ? ranges_->size(j, size) : size;
}

/// Errors of values and slopes at both ends pass into EST with a tenth of their sum; what the
/// macro-step adds is rounded.
double PredictionError::noise(const Sample& terms, double h) const {
  return norm_.noise(terms.value + 0.1 * h * terms.derivative) +
         ErrorNorm::rounding(OutputTerms::with_added(terms, h));
}

double PredictionError::norm(const MacroStep& step, const Trial& trial, std::span<const Sample> fed,
                             std::span<const Sample> terms) {
  const auto& connected = subsystems_.connected_inputs();
  norm_.begin(step.size());
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const Sample rest = constraints_.rest_of(j, trial.inputs[i], fed[i], trial.outputs);
    const double of_hold = constraints_.is_equation(j)
                               ? 0.0  // of the unknown, in its own unit: what it feeds has its own
                               : hold_error(j, trial.polynomials[i], step.size());
    const double estimate = std::abs(rest.value) + of_hold;
    const double magnitude = ranges_ && !constraints_.is_equation(j)
                                 ? ranges_->range(j, trial.inputs[i].value)
                                 : constraints_.size(j, trial.inputs);
    norm_.add(j, estimate, magnitude, size(j), terms.empty() ? 0.0 : noise(terms[i], step.size()));
  }
  return norm_.worst();
}

void PredictionError::commit(const CommunicationPoint& point) {
  for (std::size_t j = 0; j < largest_.size(); ++j) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    largest_[j] = std::max(largest_[j], constraints_.size(j, point.inputs));
    highest_[j] = point.polynomials[i].c[static_cast<std::size_t>(degree_)];
    over_[j] = point.last_step;
  }
  see(point);
  norm_.commit();
}

}  // namespace concord

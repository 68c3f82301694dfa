#include "coupling/collocation/state_error_norm.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

StateErrorNorm::StateErrorNorm(const RankNetwork& subsystems, const Tolerance& tolerance, int order)
    : norm_(subsystems.comm(), tolerance, order, subsystems.network().n_integrations(),
            subsystems.n_states()),
      largest_(subsystems.n_states()) {
  if (tolerance.of_range) ranges_.emplace(subsystems.n_states());
}

void StateErrorNorm::see(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest_[i] = std::max(largest_[i], std::abs(values[i]));
    if (ranges_) ranges_->see(i, values[i]);
  }
}

void StateErrorNorm::restart(std::span<const double> values) {
  norm_.restart();
  see(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (largest_[i] == 0.0) norm_.begins_at_zero(i);
  }
}

double StateErrorNorm::size(std::size_t i, double value) const {
  const double most = std::max(largest_[i], std::abs(value));
  return ranges_ ? ranges_->size(i, most) : most;
}

/// What is right at the end may not be so within, where a stiff layer has been passed: rows there
/// come from polynomials of some nodes more, which of smooth states miss about the square of what
/// one more node moves.
double StateErrorNorm::operator()(double h, const Errors& errors, std::span<const double> values,
                                  std::span<const double> noise) {
  norm_.begin(h);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::abs(values[i]), size = this->size(i, values[i]);
    const double moved = errors.inside[i];
    const double inside = moved < size ? moved * (moved / size) : moved;
    norm_.add(i, std::max(std::abs(errors.end[i]), inside),
              ranges_ ? ranges_->range(i, values[i]) : magnitude, size, noise[i]);
  }
  return norm_.worst();
}

void StateErrorNorm::commit(std::span<const double> values) {
  norm_.commit();
  see(values);
}

void StateErrorNorm::io(Archive& archive) {
  norm_.io(archive, Per::state);
  CONCORD_MEMBERS_PER(archive, Per::state, largest_);
  if (ranges_) ranges_->io(archive, Per::state);
}

}  // namespace concord

#include "coupling/problem/output_error_norm.hpp"

#include <cmath>

namespace concord {

OutputErrorNorm::OutputErrorNorm(const RankNetwork& subsystems, const Tolerance& tolerance,
                                 int order)
    : subsystems_(subsystems),
      norm_(subsystems.comm(), tolerance, order, subsystems.network().n_integrations(),
            subsystems.n_outputs()) {
  for (const std::size_t k : subsystems.all()) {
    const IndexRange range = subsystems.outputs_of(k);
    const bool constraint = subsystems.own(k).description().constraint.has_value();
    for (std::size_t o = range.first; o < range.last; ++o) {
      if (!constraint || o - range.first == constraint_value) {
        signals_.push_back(o);
      }
    }
  }
  if (tolerance.of_range) {
    ranges_.emplace(subsystems.n_outputs());
  }
}

void OutputErrorNorm::see(const CommunicationPoint& point) {
  for (std::size_t o = 0; ranges_ && o < point.outputs.size(); ++o) {
    ranges_->see(o, point.outputs[o].value);
  }
}

void OutputErrorNorm::commit(const CommunicationPoint& point) {
  see(point);
  norm_.commit();
}

void OutputErrorNorm::restart(const CommunicationPoint& point) {
  const Sizes& sizes = subsystems_.output_sizes();
  norm_.restart();
  see(point);
  for (std::size_t o = 0; o < point.outputs.size(); ++o) {
    const bool unknown = sizes[o] == 0.0 || sizes.only_expected(o);
    if (unknown && point.outputs[o].value == 0.0 && point.outputs[o].derivative == 0.0) {
      norm_.begins_at_zero(o);
    }
  }
}

double OutputErrorNorm::operator()(double h, std::span<const double> estimates,
                                   std::span<const Sample> outputs, std::span<const double> noise) {
  norm_.begin(h);
  for (const std::size_t o : signals_) {
    const double size = subsystems_.output_sizes()[o];
    norm_.add(o, estimates[o],
              ranges_ ? ranges_->range(o, outputs[o].value) : std::abs(outputs[o].value),
              ranges_ ? ranges_->size(o, size) : size, noise.empty() ? 0.0 : noise[o]);
  }
  return norm_.worst();
}

}  // namespace concord

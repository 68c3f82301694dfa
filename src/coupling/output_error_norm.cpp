#include "coupling/output_error_norm.hpp"

#include <algorithm>
#include <cmath>

#include "support/agreement.hpp"

namespace concord {

OutputErrorNorm::OutputErrorNorm(const RankNetwork& subsystems, double rtol, double atol)
    : subsystems_(subsystems), rtol_(rtol), atol_(atol), largest_(subsystems.n_outputs(), 0.0) {}

double OutputErrorNorm::operator()(std::span<const double> estimates,
                                   std::span<const Sample> outputs) const {
  double sum = 0.0;
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    const double size = std::max(largest_[o], std::abs(outputs[o].value));
    const double ratio = estimates[o] / (atol_ + rtol_ * size);
    sum += ratio * ratio;
  }
  const auto count =
      static_cast<double>(std::max<std::size_t>(1, subsystems_.network().n_outputs()));
  return std::sqrt(agree_on_sum(subsystems_.comm(), sum) / count);
}

void OutputErrorNorm::commit(std::span<const Sample> outputs) {
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    largest_[o] = std::max(largest_[o], std::abs(outputs[o].value));
  }
}

}  // namespace concord

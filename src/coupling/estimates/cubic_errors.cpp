#include "coupling/estimates/cubic_errors.hpp"

#include <cmath>

namespace concord {

CubicErrors::Error CubicErrors::add(std::size_t j, double mean, Sample begin, Sample end,
                                    double h) {
  const double third =
      6.0 * (2.0 * (begin.value - end.value) / h + begin.derivative + end.derivative) / (h * h);
  Error error;
  error.of_cubic =
      mean - 0.5 * (begin.value + end.value) - h * (begin.derivative - end.derivative) / 12.0;
  if (steps_ > 0) {
    const double fourth = (third - third_[j]) / (0.5 * (h + last_h_));
    error.beyond = -fourth * h * h * h * h / 720.0;
    error.first = steps_ == 1 ? -fourth * std::pow(last_h_, 5) / 720.0 : 0.0;
  }
  third_[j] = third;
  return error;
}

}  // namespace concord

#include "coupling/estimates/hermite_errors.hpp"

#include <cmath>

namespace concord {
namespace {

/// The highest derivative of the polynomial between, and the mean of that.
struct Between {
  double highest, mean;
};

Between cubic(Sample begin, Sample end, double h) {
  const double third =
      6.0 * (2.0 * (begin.value - end.value) / h + begin.derivative + end.derivative) / (h * h);
  return {third, 0.5 * (begin.value + end.value) + h * (begin.derivative - end.derivative) / 12.0};
}

Between quintic(Sample begin, Sample end, double h) {
  const double fifth =
      60.0 *
      (12.0 * (end.value - begin.value) / (h * h) - 6.0 * (begin.derivative + end.derivative) / h +
       end.curvature - begin.curvature) /
      (h * h * h);
  return {fifth, 0.5 * (begin.value + end.value) + h * (begin.derivative - end.derivative) / 10.0 +
                     h * h * (begin.curvature + end.curvature) / 120.0};
}

}  // namespace

HermiteErrors::Error HermiteErrors::add(std::size_t j, double mean, Sample begin, Sample end,
                                        double h) {
  const Between between = curvatures_ ? quintic(begin, end, h) : cubic(begin, end, h);
  Error error;
  error.of_polynomial = mean - between.mean;
  if (steps_ > 0) {
    const double next = (between.highest - highest_[j]) / (0.5 * (h + last_h_));
    const auto missed = [&](double size) {
      const double fourth = size * size * size * size;
      return curvatures_ ? next * fourth * size * size / 100800.0 : -next * fourth / 720.0;
    };
    error.beyond = missed(h);
    error.first = steps_ == 1 ? last_h_ * missed(last_h_) : 0.0;
  }
  highest_[j] = between.highest;
  return error;
}

}  // namespace concord

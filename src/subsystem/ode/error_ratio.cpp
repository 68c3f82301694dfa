#include "subsystem/ode/error_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace concord {
namespace {

/// weights A^power 1: the coefficient of z^(power+1) in z weights (I - z A)^-1 1.
double coefficient(const ARKodeButcherTableMem& pair, const std::vector<double>& weights,
                   int power) {
  std::vector<double> column(weights.size(), 1.0), next(weights.size());
  for (int i = 0; i < power; ++i) {
    for (std::size_t s = 0; s < weights.size(); ++s)
      next[s] = std::inner_product(column.begin(), column.end(), pair.A[s], 0.0);
    column.swap(next);
  }
  return std::inner_product(column.begin(), column.end(), weights.begin(), 0.0);
}

}  // namespace

double error_ratio(const ARKodeButcherTableMem& pair) {
  const std::vector<double> b(pair.b, pair.b + pair.stages);
  std::vector<double> difference(b);
  for (std::size_t s = 0; s < b.size(); ++s) difference[s] -= pair.d[s];
  const double exact = 1.0 / std::tgamma(pair.p + 3);  // 1 / (p+2)!
  const double left = std::abs(coefficient(pair, b, pair.p + 1) - exact);
  const double told = std::abs(coefficient(pair, difference, pair.p));
  return std::max(1.0, left / std::pow(told, (pair.p + 2.0) / (pair.p + 1.0)));
}

}  // namespace concord

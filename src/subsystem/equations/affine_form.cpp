#include "subsystem/equations/affine_form.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "subsystem/equations/expression_scan.hpp"

namespace concord {

bool is_rational(const std::string& expression) {
  const auto uses = names_used(expression);
  const bool calls =
      std::any_of(uses.begin(), uses.end(), [](const auto& use) { return use.called; });
  return !calls && expression.find_first_of("^?:<>=!&|,") == std::string::npos;
}

namespace {

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

std::optional<std::vector<double>> affine_matrix(
    std::size_t values, std::size_t arguments,
    const std::function<void(std::span<const double>, std::span<double>)>& evaluate) {
  std::vector<double> point(arguments, 0.0), at_zero(values), at_point(values);
  std::vector<double> matrix(values * arguments);
  evaluate(point, at_zero);
  if (!finite(at_zero)) {
    return std::nullopt;
  }
  // Far from zero, F(0) doesn't spoil the digits of a column.
  const double far = std::ldexp(1.0, 40);
  for (std::size_t j = 0; j < arguments; ++j) {
    point[j] = far;
    evaluate(point, at_point);
    point[j] = 0.0;
    for (std::size_t i = 0; i < values; ++i) {
      matrix[i * arguments + j] = (at_point[i] - at_zero[i]) / far;
    }
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const double size : {1e-3, 1.0, 1.0, 1e6}) {
    std::generate(point.begin(), point.end(), [&] { return size * uniform(random); });
    evaluate(point, at_point);
    for (std::size_t i = 0; i < values; ++i) {
      double expected = at_zero[i];
      double terms = std::abs(at_zero[i]);
      for (std::size_t j = 0; j < arguments; ++j) {
        expected += matrix[i * arguments + j] * point[j];
        terms += std::abs(matrix[i * arguments + j] * point[j]);
      }
      if (!(std::abs(at_point[i] - expected) <= 1e-12 * terms)) {
        return std::nullopt;
      }
    }
  }
  return matrix;
}

}  // namespace concord

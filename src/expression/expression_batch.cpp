#include "expression/expression_batch.hpp"

#include <algorithm>

#include "support/scratch.hpp"

namespace concord {

ExpressionBatch::ExpressionBatch(const ExpressionList& first, std::size_t instances)
    : first_(first),
      values_(first.values().program(), instances),
      derivatives_(first.derivatives().program(), instances) {
  for (std::size_t i = 0; i < instances; ++i) set(i, first);
}

bool ExpressionBatch::set(std::size_t instance, const ExpressionList& list) {
  if (!list.shares_with(first_)) return false;
  values_.set_constants(instance, list.values().constants());
  derivatives_.set_constants(instance, list.derivatives().constants());
  return true;
}

std::span<const double> ExpressionBatch::differentiate(std::span<const double> points) {
  entry_values_.resize(entries().size() * instances());
  derivatives_.run(points, entry_values_);
  return entry_values_;
}

void ExpressionBatch::slopes(std::span<const double> points, std::span<const double> directions,
                             std::span<double> slopes) const {
  const std::size_t n = instances();
  Scratch scratch;
  const std::span<double> values = scratch.numbers(entries().size() * n);
  derivatives_.run(points, values);
  std::fill(slopes.begin(), slopes.end(), 0.0);
  for (std::size_t k = 0; k < entries().size(); ++k) {
    const auto [row, variable] = entries()[k];
    add_products(values.subspan(k * n, n), directions.subspan(variable * n, n),
                 slopes.subspan(row * n, n));
  }
}

}  // namespace concord

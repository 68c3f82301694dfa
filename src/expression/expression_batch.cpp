#include "expression/expression_batch.hpp"

#include <algorithm>

namespace concord {

ExpressionBatch::ExpressionBatch(const ExpressionList& first, std::size_t instances)
    : first_(first),
      values_(first.values().program(), instances),
      derivatives_(first.derivatives().program(), instances),
      entry_values_(first.entries().size() * instances) {
  for (std::size_t i = 0; i < instances; ++i) set(i, first);
}

bool ExpressionBatch::set(std::size_t instance, const ExpressionList& list) {
  if (!list.shares_with(first_)) return false;
  values_.set_constants(instance, list.values().constants());
  derivatives_.set_constants(instance, list.derivatives().constants());
  return true;
}

std::span<const double> ExpressionBatch::differentiate() {
  for (const std::uint32_t number : derivatives_.variables_used()) {
    const std::span<const double> from = values_.variable(number);
    std::copy(from.begin(), from.end(), derivatives_.variable(number).begin());
  }
  derivatives_.run(entry_values_);
  return entry_values_;
}

void ExpressionBatch::slopes(std::span<const double> directions, std::span<double> slopes) {
  const std::size_t n = instances();
  const std::span<const double> values = differentiate();
  std::fill(slopes.begin(), slopes.end(), 0.0);
  for (std::size_t k = 0; k < entries().size(); ++k) {
    const auto [row, variable] = entries()[k];
    add_products(values.subspan(k * n, n), directions.subspan(variable * n, n),
                 slopes.subspan(row * n, n));
  }
}

}  // namespace concord

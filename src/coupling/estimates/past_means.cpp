#include "coupling/estimates/past_means.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

PastMeans::PastMeans(std::size_t signals, std::size_t points)
    : points_(std::min(points, most_points)) {
  for (std::size_t i = 0; i < points_; ++i) {
    values_[i].assign(signals, 0.0);
    given_[i].assign(signals, 0.0);
  }
}

void PastMeans::start() {
  known_ = 1;
  age_[0] = 0.0;
}

void PastMeans::advance(double h) {
  known_ = std::min(known_ + 1, points_);
  for (auto* values : {&values_, &given_}) {
    std::rotate(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(known_ - 1),
                values->begin() + static_cast<std::ptrdiff_t>(known_));
  }
  for (std::size_t i = known_ - 1; i > 0; --i) {
    age_[i] = age_[i - 1] + h;
  }
  update_weights();
}

double PastMeans::through(const Values& values, std::size_t j) const {
  double result = 0.0;
  for (std::size_t i = 0; i < known_; ++i) {
    result += weight_[i] * values[i][j];
  }
  return result;
}

/// Means over the last macro-step of Lagrange's polynomials, by Gauss' rule of degree 5; kept while
/// macro-steps keep their sizes.
void PastMeans::update_weights() {
  constexpr double same = 1e-6;
  bool kept = known_ == known_of_weights_;
  for (std::size_t i = 1; kept && i < known_; ++i) {
    kept = std::abs(age_[i] - age_of_weights_[i]) <= same * age_[1];
  }
  if (kept) {
    return;
  }
  constexpr std::array<double, 3> node{0.1127016653792583, 0.5, 0.8872983346207417};
  constexpr std::array<double, 3> share{5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  for (std::size_t i = 0; i < known_; ++i) {
    weight_[i] = 0.0;
    for (std::size_t g = 0; g < node.size(); ++g) {
      double basis = share[g];
      for (std::size_t l = 0; l < known_; ++l) {
        basis *= l == i ? 1.0 : (age_[1] * node[g] - age_[l]) / (age_[i] - age_[l]);
      }
      weight_[i] += basis;
    }
  }
  age_of_weights_ = age_;
  known_of_weights_ = known_;
}

void PastMeans::io(Archive& archive) {
  CONCORD_MEMBERS(archive, age_, weight_, age_of_weights_, known_, known_of_weights_);
  for (std::size_t i = 0; i < most_points; ++i) {
    CONCORD_MEMBERS_PER(archive, Per::connected, values_[i], given_[i]);
  }
}

}  // namespace concord

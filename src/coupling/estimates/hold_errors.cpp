#include "coupling/estimates/hold_errors.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// Points through which P y is one degree better than the hold.
std::size_t points_for(const Method& method) {
  const int degree = method.solve.from_past ? method.hold_order : method.hold.degree;
  return static_cast<std::size_t>(degree) + 2;
}

double mean(const Polynomial& p, double h) {
  return p.c[0] + h * (p.c[1] / 2.0 + h * (p.c[2] / 3.0 + h * p.c[3] / 4.0));
}

}  // namespace

HoldErrors::HoldErrors(const Method& method, const RankNetwork& subsystems)
    : subsystems_(subsystems),
      cubic_(method.hold.is_cubic()),
      consistent_(method.makes_outputs_consistent(subsystems.network())),
      points_(std::min(points_for(method), most_points)) {
  const std::size_t n = subsystems.connected_inputs().size();
  for (auto* values : {&impulse_, &deviation_, &largest_, &variation_, &at_end_, &third_}) {
    values->assign(n, 0.0);
  }
  for (std::size_t i = 0; i < most_points; ++i) {
    values_[i].assign(n, 0.0);
    ends_[i].assign(n, 0.0);
  }
  last_.resize(n);
  accumulated_.assign(subsystems.n_inputs(), 0.0);
  solved_.assign(n, 0);
  std::size_t j = 0;
  for (const std::size_t k : subsystems.all()) {
    const bool solved = consistent_ && subsystems.network().constraint(subsystems.global(k));
    for (; j < n && subsystems.connected_inputs()[j] < subsystems.inputs_of(k).last; ++j) {
      solved_[j] = solved ? 1 : 0;
    }
  }
}

void HoldErrors::start(const CommunicationPoint& point, std::span<const Sample> fed) {
  pass_layer(point, fed);
  clear();
}

void HoldErrors::pass_layer(const CommunicationPoint& point, std::span<const Sample> fed) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    last_[j] = fed[connected[j]];
    values_[0][j] = ends_[0][j] = last_[j].value;
  }
  known_ = 1;
  age_[0] = 0.0;
  steps_ = 0;
  slopes_known_ = point.slopes_known;
}

void HoldErrors::clear() {
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  std::fill(deviation_.begin(), deviation_.end(), 0.0);
  std::fill(largest_.begin(), largest_.end(), 0.0);
  std::fill(variation_.begin(), variation_.end(), 0.0);
}

void HoldErrors::add(std::size_t j, double mean_error, double h) {
  impulse_[j] += h * mean_error;
  largest_[j] = std::max(largest_[j], std::abs(mean_error));
}

/// On the first macro-step w'''' is not known: the second one gives it for both. Nor may the slope
/// at its beginning be: then it is that of the hold.
void HoldErrors::add_cubic(std::size_t j, const Polynomial& given, Sample end, double h) {
  Sample begin = last_[j];
  if (steps_ == 0 && !slopes_known_) {
    begin.derivative = given.c[1];
  }
  const double third =
      6.0 * (2.0 * (begin.value - end.value) / h + begin.derivative + end.derivative) / (h * h);
  const double error = mean(given, h) - 0.5 * (begin.value + end.value) -
                       h * (begin.derivative - end.derivative) / 12.0;
  double missing = 0.0;
  if (steps_ > 0) {
    const double fourth = (third - third_[j]) / (0.5 * (h + last_h_));
    missing = -fourth * h * h * h * h / 720.0;
    if (steps_ == 1) {
      const double first = -fourth * std::pow(last_h_, 5) / 720.0;
      impulse_[j] += first;
      deviation_[j] += first;
    }
  }
  third_[j] = third;
  deviation_[j] += h * missing;
  add(j, error + missing, h);
}

/// The mean over the macro-step of what goes through these values.
double HoldErrors::through(const std::array<std::vector<double>, most_points>& values,
                           std::size_t j) const {
  double result = 0.0;
  for (std::size_t i = 0; i < known_; ++i) {
    result += weight_[i] * values[i][j];
  }
  return result;
}

void HoldErrors::add_values(std::size_t j, const Polynomial& given, double h) {
  const double of_given = mean(given, h);
  deviation_[j] += h * (of_given - through(ends_, j));
  add(j, of_given - through(values_, j), h);
}

void HoldErrors::remember_values(const CommunicationPoint& point, std::span<const Sample> fed) {
  const double h = point.last_step;
  known_ = std::min(known_ + 1, points_);
  for (auto* values : {&values_, &ends_}) {
    std::rotate(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(known_ - 1),
                values->begin() + static_cast<std::ptrdiff_t>(known_));
  }
  for (std::size_t i = known_ - 1; i > 0; --i) {
    age_[i] = age_[i - 1] + h;
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    values_[0][j] = fed[i].value;
    ends_[0][j] = consistent_ ? fed[i].value : point.polynomials[i](h);
  }
  update_weights();
}

/// Means over the last macro-step of Lagrange's polynomials, by Gauss' rule of degree 5; kept while
/// macro-steps keep their sizes.
void HoldErrors::update_weights() {
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

void HoldErrors::observe(const CommunicationPoint& point, std::span<const Sample> fed,
                         const BalanceErrors* balance) {
  const double h = point.last_step;
  if (!cubic_) {
    remember_values(point, fed);
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const Polynomial& given = point.polynomials[i];
    if (solved_[j] != 0) {
      add(j, 0.0, h);
    } else if (balance != nullptr) {
      add(j, (accumulated_[i] - balance->accumulated()[i]) / h, h);
    } else if (cubic_) {
      add_cubic(j, given, fed[i], h);
    } else {
      add_values(j, given, h);
    }
    at_end_[j] = consistent_ ? 0.0 : given(h) - fed[i].value;
    variation_[j] += std::abs(fed[i].value - last_[j].value);
    last_[j] = fed[i];
  }
  if (balance != nullptr) {
    std::copy(balance->accumulated().begin(), balance->accumulated().end(), accumulated_.begin());
  }
  last_h_ = h;
  ++steps_;
}

}  // namespace concord

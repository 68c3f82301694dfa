#include "coupling/estimates/hold_errors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace concord {
namespace {

/// Points through which P y is one degree better than the hold; what interpolates goes through the
/// new value, too.
std::size_t points_for(const Method& method) {
  const int degree = method.solve.from_past
                         ? method.hold_order + (method.schedule.in_sequence ? 1 : 0)
                         : method.hold.degree;
  return static_cast<std::size_t>(degree) + 2;
}

double mean(const Polynomial& p, double h) {
  return p.c[0] +
         h * (p.c[1] / 2.0 +
              h * (p.c[2] / 3.0 + h * (p.c[3] / 4.0 + h * (p.c[4] / 5.0 + h * p.c[5] / 6.0))));
}

/// Of e, which begins as far from what is fed as the layer is high, and dies out as it begins to:
/// e_0 exp(e_0' t/e_0), faster than points within the macro-step tell.
std::optional<double> mean_of_layer(const Polynomial& given, const Sample& fed, double h) {
  const double e = given.c[0] - fed.value, slope = given.c[1] - fed.derivative;
  return e * slope < 0.0 && std::abs(slope) * h > std::abs(e) ? std::optional(-e * e / (slope * h))
                                                              : std::nullopt;
}

}  // namespace

HoldErrors::HoldErrors(const Method& method, const RankNetwork& subsystems)
    : subsystems_(subsystems),
      hermite_(method.hold.ends_with_slope()),
      consistent_(method.makes_outputs_consistent(subsystems.network())),
      at_nodes_(method.solve.at_nodes),
      hermite_errors_(subsystems.connected_inputs().size(), method.hold.ends_with_curvature()),
      past_(subsystems.connected_inputs().size(), points_for(method)) {
  const std::size_t n = subsystems.connected_inputs().size();
  for (auto* values : {&impulse_, &layers_, &deviation_, &unseen_, &largest_, &variation_, &at_end_,
                       &largest_seen_, &missed_}) {
    values->assign(n, 0.0);
  }
  last_.resize(n);
  accumulated_.assign(subsystems.n_inputs(), 0.0);
  solved_.assign(n, 0);
  std::size_t j = 0;
  for (const std::size_t k : subsystems.all()) {
    const bool solved =
        at_nodes_ || (consistent_ && subsystems.network().constraint(subsystems.global(k)));
    for (; j < n && subsystems.connected_inputs()[j] < subsystems.inputs_of(k).last; ++j) {
      solved_[j] = solved ? 1 : 0;
    }
  }
}

void HoldErrors::start(const CommunicationPoint& point, std::span<const Sample> fed) {
  begin(point, fed);
  clear();
}

void HoldErrors::pass_layer(const CommunicationPoint& point, std::span<const Sample> fed,
                            std::span<const double> inside) {
  const auto& connected = subsystems_.connected_inputs();
  const double h = point.last_step;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    if (solved_[j] != 0) continue;
    const auto of_layer = mean_of_layer(point.polynomials[i], last_[j], h);
    layers_[j] += h * of_layer.value_or(0.0);
    const double mean = of_layer.value_or(inside[i]);
    if (!std::isnan(mean)) add(j, mean, h);
  }
  begin(point, fed);
}

void HoldErrors::begin(const CommunicationPoint& point, std::span<const Sample> fed) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    last_[j] = fed[connected[j]];
    past_.set(j, last_[j].value, last_[j].value);
  }
  past_.start();
  hermite_errors_.start(point.slopes_known);
}

void HoldErrors::clear() {
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  std::fill(layers_.begin(), layers_.end(), 0.0);
  std::fill(deviation_.begin(), deviation_.end(), 0.0);
  std::fill(unseen_.begin(), unseen_.end(), 0.0);
  std::fill(largest_.begin(), largest_.end(), 0.0);
  std::fill(variation_.begin(), variation_.end(), 0.0);
  std::fill(largest_seen_.begin(), largest_seen_.end(), 0.0);
  std::fill(missed_.begin(), missed_.end(), 0.0);
}

void HoldErrors::add(std::size_t j, double mean_error, double h) {
  impulse_[j] += h * mean_error;
  largest_[j] = std::max(largest_[j], std::abs(mean_error));
}

/// Where slope and curvature at the beginning are not known they are those of the hold.
HoldErrors::ByEnds HoldErrors::by_hermite(std::size_t j, const Polynomial& given, Sample end,
                                          double h) {
  Sample begin = last_[j];
  if (!hermite_errors_.slopes_known()) {
    begin.derivative = given.c[1];
    begin.curvature = 2.0 * given.c[2];
  }
  const HermiteErrors::Error error = hermite_errors_.add(j, mean(given, h), begin, end, h);
  return {error.of_polynomial + error.beyond, error.first, error.first + h * error.beyond};
}

HoldErrors::ByEnds HoldErrors::by_values(std::size_t j, const Polynomial& given, double h) const {
  const double of_given = mean(given, h);
  return {of_given - past_.of_values(j), 0.0, h * (of_given - past_.of_given(j))};
}

void HoldErrors::remember_values(const CommunicationPoint& point, std::span<const Sample> fed) {
  const double h = point.last_step;
  past_.advance(h);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    past_.set(j, fed[i].value, consistent_ ? fed[i].value : point.polynomials[i](h));
  }
}

void HoldErrors::observe(const CommunicationPoint& point, std::span<const Sample> fed,
                         std::span<const double> inside, const InsideRows* solved,
                         const BalanceErrors* balance) {
  const double h = point.last_step;
  if (!hermite_) {
    remember_values(point, fed);
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const Polynomial& given = point.polynomials[i];
    const bool seen = solved_[j] == 0 && balance == nullptr && !std::isnan(inside[i]);
    if (solved_[j] != 0) {
      add(j, at_nodes_ && !std::isnan(inside[i]) ? inside[i] : 0.0, h);
    } else if (balance != nullptr) {
      add(j, (accumulated_[i] - balance->accumulated()[i]) / h, h);
    } else {
      const ByEnds ends = hermite_ ? by_hermite(j, given, fed[i], h) : by_values(j, given, h);
      deviation_[j] += ends.deviation;
      impulse_[j] += seen ? 0.0 : ends.before;
      add(j, seen ? inside[i] : ends.mean, h);
    }
    unseen_[j] += seen ? 0.0 : h;
    if (seen && std::abs(inside[i]) > std::abs(largest_seen_[j])) largest_seen_[j] = inside[i];
    at_end_[j] = solved_[j] != 0 ? 0.0 : given(h) - fed[i].value;
    if (solved != nullptr) missed_[j] = std::max(missed_[j], solved->missed[j]);
    variation_[j] += std::abs(fed[i].value - last_[j].value);
    last_[j] = fed[i];
  }
  if (balance != nullptr) {
    std::copy(balance->accumulated().begin(), balance->accumulated().end(), accumulated_.begin());
  }
  hermite_errors_.end_step(h);
}

}  // namespace concord

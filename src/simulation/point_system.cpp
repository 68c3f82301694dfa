#include "simulation/point_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

PointEquation at_rest(const NetworkAtPoint& network, std::size_t state) {
  return {"der(" + network.network().state_names()[state] + ") = 0",
          {{PointQuantity::Kind::rate, state}},
          [](double, std::span<const double> values, std::span<double> slopes) {
            slopes[0] = 1.0;
            return values[0];
          }};
}

PointSystem::PointSystem(NetworkAtPoint& network, std::vector<std::size_t> unknown_states,
                         std::vector<FreeValue> free, std::vector<PointEquation> equations,
                         NewModel read_anew)
    : network_(network),
      read_anew_(std::move(read_anew)),
      states_(std::move(unknown_states)),
      free_(std::move(free)),
      equations_(std::move(equations)),
      start_(static_cast<Eigen::Index>(states_.size() + free_.size())) {
  std::size_t i = 0;
  for (const std::size_t state : states_)
    start_[static_cast<Eigen::Index>(i++)] = network_.states()[state] / network_.sizes()[state];
  for (const FreeValue& each : free_) {
    free_sizes_.push_back(size_of(0.0, each.start));
    free_values_.push_back(std::numeric_limits<double>::quiet_NaN());  // it may have another one
    start_[static_cast<Eigen::Index>(i++)] = each.start / free_sizes_.back();
  }
  names_outputs_ = std::ranges::any_of(equations_, [](const PointEquation& equation) {
    return std::ranges::any_of(equation.quantities, [](const PointQuantity& each) {
      return each.kind == PointQuantity::Kind::output || each.kind == PointQuantity::Kind::input;
    });
  });
  pair_rates();
  move_to(start_);
  take_values();
  find_scales();
}

/// Equations come in the order of the unknowns whose rates they have.
void PointSystem::pair_rates() {
  const auto has_rate = [&](const PointEquation& equation, std::size_t state) {
    return std::ranges::any_of(equation.quantities, [&](const PointQuantity& each) {
      return each.kind == PointQuantity::Kind::rate && each.index == state;
    });
  };
  for (std::size_t i = 0; i < states_.size(); ++i)
    for (std::size_t k = i; k < equations_.size(); ++k)
      if (has_rate(equations_[k], states_[i]) &&
          (k == i || k >= states_.size() || !has_rate(equations_[k], states_[k]))) {
        std::swap(equations_[i], equations_[k]);
        break;
      }
}

/// By the terms of each equation at the start, of which one may stand alone: u = 5.
void PointSystem::find_scales() {
  mass_ = scales_ = Eigen::VectorXd::Zero(size());
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const PointEquation& equation = equations_[i];
    double rest = missed(equation), scale = 0.0, rate = 0.0;
    for (std::size_t q = 0; q < equation.quantities.size(); ++q) {
      const PointQuantity& each = equation.quantities[q];
      const double size = size_of_quantity(each, values_[q]);
      scale = std::max(scale, std::abs(slopes_[q]) * size);
      rest -= slopes_[q] * values_[q];
      if (each.kind == PointQuantity::Kind::rate && i < states_.size() && each.index == states_[i])
        rate = slopes_[q] * size;
    }
    scale = std::max(scale, std::abs(rest));
    const auto row = static_cast<Eigen::Index>(i);
    scales_[row] = scale > 0.0 && std::isfinite(scale) ? scale : 1.0;
    mass_[row] = rate / scales_[row];
  }
}

double PointSystem::size_of_quantity(const PointQuantity& quantity, double value) const {
  const bool is_rate = quantity.kind == PointQuantity::Kind::rate;
  if (is_rate || quantity.kind == PointQuantity::Kind::state)
    return network_.sizes()[quantity.index] / (is_rate ? network_.duration() : 1.0);
  const double nominal =
      quantity.kind == PointQuantity::Kind::output ? network_.nominal_output(quantity.index) : 0.0;
  return nominal > 0.0 ? nominal : std::abs(value);
}

void PointSystem::move_to(const Eigen::VectorXd& z) {
  Eigen::Index i = 0;
  for (const std::size_t state : states_)
    network_.states()[state] = z[i++] * network_.sizes()[state];
  read_model_anew(z);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const double value = z[i++] * free_sizes_[k];
    if (!free_[k].what || value == std::exchange(free_values_[k], value)) continue;
    if (free_[k].what->kind() == Settable::Kind::input)
      network_.set_input(free_[k].what->index(), value);
    else
      network_.set_parameter(free_[k].what->subsystem(), free_[k].what->index(), value);
  }
}

/// Where parameters from which it follows are others. What else is free is to be set anew then, and
/// relations have the truth that they have there.
void PointSystem::read_model_anew(const Eigen::VectorXd& z) {
  std::vector<std::pair<std::string, double>> numbers;
  bool changed = false;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    if (free_[k].what) continue;
    const double value = z[static_cast<Eigen::Index>(states_.size() + k)] * free_sizes_[k];
    numbers.emplace_back(free_[k].name, value);
    changed = value != free_values_[k] || changed;
  }
  if (!changed) return;
  free_values_.assign(free_.size(), std::numeric_limits<double>::quiet_NaN());
  read_anew_(numbers);
  for (std::size_t k = 0, next = 0; k < free_.size(); ++k)
    if (!free_[k].what) free_values_[k] = numbers[next++].second;
  std::vector<Happening> waiting;
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds && network_.settle(waiting); ++round) {
  }
}

/// Of rates and outputs, where some equation may name them.
void PointSystem::take_values() {
  const auto rates = network_.rates();
  f_.assign(rates.begin(), rates.end());
  if (!names_outputs_) return;
  const auto outputs = network_.outputs();
  y_.assign(outputs.begin(), outputs.end());
}

double PointSystem::value_of(const PointQuantity& quantity, std::span<const double> f,
                             std::span<const double> y) const {
  switch (quantity.kind) {
    case PointQuantity::Kind::state:
      return network_.states()[quantity.index];
    case PointQuantity::Kind::rate:
      return f[quantity.index];
    case PointQuantity::Kind::output:
      return y[quantity.index];
    case PointQuantity::Kind::input: {
      const auto& link = network_.network().links()[quantity.index];
      return link ? link->factor * y[link->output] + link->offset : network_.input(quantity.index);
    }
    case PointQuantity::Kind::free:
      return free_values_[quantity.index];
    case PointQuantity::Kind::parameter:
      break;
  }
  return quantity.value;
}

/// Where the network stands, with its slopes.
double PointSystem::missed(const PointEquation& equation) {
  values_.clear();
  for (const PointQuantity& each : equation.quantities) values_.push_back(value_of(each, f_, y_));
  slopes_.assign(values_.size(), 0.0);
  return equation.missed(network_.time(), values_, slopes_);
}

Eigen::VectorXd PointSystem::residual(const Eigen::VectorXd& z) {
  move_to(z);
  take_values();
  Eigen::VectorXd result(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    result[i] = missed(equations_[at(i)]) / scales_[i];
    if (!std::isfinite(result[i]))
      throw RecoverableFailure(equation(i) + " has no finite sides there");
  }
  return result;
}

/// Of the quantity, by a state.
double PointSystem::slope_of(const PointQuantity& quantity, std::size_t state,
                             const NetworkAtPoint::Derived& derived) const {
  const auto of_output = [&](std::size_t output) {
    return derived.g_x(static_cast<Eigen::Index>(output), static_cast<Eigen::Index>(state));
  };
  switch (quantity.kind) {
    case PointQuantity::Kind::state:
      return quantity.index == state ? 1.0 : 0.0;
    case PointQuantity::Kind::rate:
      return derived.f_x(static_cast<Eigen::Index>(quantity.index),
                         static_cast<Eigen::Index>(state));
    case PointQuantity::Kind::output:
      return of_output(quantity.index);
    case PointQuantity::Kind::input:
      if (const auto& link = network_.network().links()[quantity.index])
        return link->factor * of_output(link->output);
      break;
    case PointQuantity::Kind::free:
    case PointQuantity::Kind::parameter:
      break;
  }
  return 0.0;
}

/// By states.
void PointSystem::add_row(const PointEquation& equation, const NetworkAtPoint::Derived& derived,
                          Eigen::Index row, Eigen::MatrixXd& result) {
  missed(equation);
  for (std::size_t q = 0; q < equation.quantities.size(); ++q)
    for (std::size_t j = 0; j < states_.size(); ++j)
      result(row, static_cast<Eigen::Index>(j)) +=
          slopes_[q] * slope_of(equation.quantities[q], states_[j], derived) *
          network_.sizes()[states_[j]];
}

Eigen::MatrixXd PointSystem::jacobian(const Eigen::VectorXd& z) {
  move_to(z);
  take_values();
  const NetworkAtPoint::Derived derived = network_.derive();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size(), size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    add_row(equations_[at(i)], derived, i, result);
    result.row(i) /= scales_[i];
  }
  const double part = std::cbrt(std::numeric_limits<double>::epsilon());
  for (auto j = static_cast<Eigen::Index>(states_.size()); j < size(); ++j) {
    const double step = part * std::max(1.0, std::abs(z[j]));
    Eigen::VectorXd there = z, back = z;
    there[j] += step;
    back[j] -= step;
    result.col(j) = (residual(there) - residual(back)) / (2.0 * step);
  }
  move_to(z);
  return result;
}

bool PointSystem::settle(const Eigen::VectorXd& z, std::vector<Happening>& waiting) {
  move_to(z);
  return network_.settle(waiting);
}

std::vector<std::pair<std::string, double>> PointSystem::freed(const Eigen::VectorXd& z) const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t i = 0; i < free_.size(); ++i)
    result.emplace_back(free_[i].name,
                        z[static_cast<Eigen::Index>(states_.size() + i)] * free_sizes_[i]);
  return result;
}

std::string PointSystem::unknown(Eigen::Index i) const {
  return at(i) < states_.size() ? network_.network().state_names()[states_[at(i)]]
                                : free_[at(i) - states_.size()].name;
}

}  // namespace concord

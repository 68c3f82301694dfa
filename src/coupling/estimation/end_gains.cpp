#include "coupling/estimation/end_gains.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// Macro-steps that differ by less than this fraction are of one size.
constexpr double same_step = 1e-12;

}  // namespace

EndGains::EndGains(std::vector<std::size_t> connected, std::vector<bool> afresh,
                   std::size_t outputs, Response response)
    : connected_(std::move(connected)),
      afresh_(std::move(afresh)),
      response_(response),
      begin_values_(connected_.size()) {
  afresh_.resize(connected_.size(), false);
  const auto n = static_cast<Eigen::Index>(connected_.size());
  begin_slopes_.setZero(n);
  gain_.setZero(2 * static_cast<Eigen::Index>(outputs), 2 * n);
}

void EndGains::begin_afresh(std::span<const char> afresh) {
  const auto same = [](char flag, bool known) { return (flag != 0) == known; };
  if (!std::equal(afresh.begin(), afresh.end(), afresh_.begin(), same)) {
    std::transform(afresh.begin(), afresh.end(), afresh_.begin(),
                   [](char flag) { return flag != 0; });
    forget();
  }
}

bool EndGains::serves(double h, bool slopes_known) const {
  return std::abs(h - h_) <= same_step * h && slopes_known == slopes_known_;
}

/// x(h) for a change of each connected input by the shape that it has.
Eigen::MatrixXd EndGains::states_for(const Shape& joined, const Shape& afresh) {
  Eigen::MatrixXd result = response_.to_inputs(joined);
  if (std::find(afresh_.begin(), afresh_.end(), true) == afresh_.end()) {
    return result;
  }
  const Eigen::MatrixXd to_afresh = response_.to_inputs(afresh);
  for (std::size_t i = 0; i < afresh_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    if (afresh_[i]) {
      result.col(column) = to_afresh.col(column);
    }
  }
  return result;
}

EndGains::Shapes EndGains::shapes(bool afresh) const {
  if (afresh) {
    return {{1, 0, 0, 0}, {-1, 1, 0, 0}};
  }
  return slopes_known_ ? Shapes{{0, 0, 3, -2}, {0, 0, -1, 1}}
                       : Shapes{{0, 2, -1, 0}, {0, -1, 1, 0}};
}

/// What outputs make of the inputs' polynomials before the end, at s = 1 - late/h.
void EndGains::add_late(const LocalLinearization& subsystem) {
  const std::span<const double> g = subsystem.g_late();
  const double s = 1.0 - subsystem.late() / h_;
  if (g.empty() || s <= 0.0) {
    return;
  }
  const Eigen::Index inputs = subsystem.d().cols();
  for (std::size_t c = 0; c < connected_.size(); ++c) {
    const auto [by_value, by_slope] = shapes(afresh_[c]);
    const Sample value = Polynomial{by_value}.at(s), slope = Polynomial{by_slope}.at(s);
    const auto i = static_cast<Eigen::Index>(c);
    for (Eigen::Index o = 0; o < subsystem.d().rows(); ++o) {
      const double gain = g[static_cast<std::size_t>(o * inputs) + connected_[c]];
      gain_(2 * o, 2 * i) += gain * value.value;
      gain_(2 * o, 2 * i + 1) += gain * h_ * slope.value;
      gain_(2 * o + 1, 2 * i) += gain * value.derivative / h_;
      gain_(2 * o + 1, 2 * i + 1) += gain * slope.derivative;
    }
  }
}

void EndGains::compute(const LocalLinearization& subsystem, double h, bool slopes_known) {
  h_ = h;
  slopes_known_ = slopes_known;
  const Eigen::MatrixXd& a = subsystem.a();
  const Eigen::MatrixXd& c = subsystem.c();
  Eigen::MatrixXd b(subsystem.b().rows(), static_cast<Eigen::Index>(connected_.size()));
  Eigen::MatrixXd d(subsystem.d().rows(), b.cols());
  for (Eigen::Index i = 0; i < b.cols(); ++i) {
    const auto input = static_cast<Eigen::Index>(connected_[static_cast<std::size_t>(i)]);
    b.col(i) = subsystem.b().col(input);
    d.col(i) = subsystem.d().col(input);
  }
  response_.prepare(a, b, h, slopes_known ? Shape{0, 1, -2, 1} : Shape{});
  by_value_ = states_for(shapes(false).by_value, shapes(true).by_value);
  by_slope_ = h * states_for(shapes(false).by_slope, shapes(true).by_slope);
  const Eigen::MatrixXd value_to_value = c * by_value_ + d;
  const Eigen::MatrixXd slope_to_value = c * by_slope_;
  const Eigen::MatrixXd value_to_slope = c * (a * by_value_ + b);
  const Eigen::MatrixXd slope_to_slope = c * (a * by_slope_) + d;
  for (Eigen::Index o = 0; o < c.rows(); ++o) {
    for (Eigen::Index i = 0; i < b.cols(); ++i) {
      gain_(2 * o, 2 * i) = value_to_value(o, i);
      gain_(2 * o, 2 * i + 1) = slope_to_value(o, i);
      gain_(2 * o + 1, 2 * i) = value_to_slope(o, i);
      gain_(2 * o + 1, 2 * i + 1) = slope_to_slope(o, i);
    }
  }
  add_late(subsystem);
}

void EndGains::begin(std::span<const Sample> inputs) {
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const Sample& input = inputs[connected_[i]];
    begin_values_[i] = input.value;
    begin_slopes_[static_cast<Eigen::Index>(i)] = afresh_[i] ? 0.0 : h_ * input.derivative;
  }
}

void EndGains::add_to_states(std::span<const Sample> end, Eigen::VectorXd& xi) const {
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const Sample& input = end[connected_[i]];
    xi += by_value_.col(column) * (input.value - begin_values_[i]);
    xi += by_slope_.col(column) * input.derivative;
  }
}

void EndGains::add_to_outputs(std::span<const Sample> end, double sign,
                              std::span<Sample> outputs) const {
  const auto rows = static_cast<std::size_t>(gain_.rows());
  const double* of_value = gain_.data();
  for (std::size_t i = 0; i < connected_.size(); ++i, of_value += 2 * rows) {
    const double* of_slope = of_value + rows;
    const double change = sign * (end[connected_[i]].value - begin_values_[i]);
    const double slope = sign * end[connected_[i]].derivative;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].value += of_value[2 * o] * change + of_slope[2 * o] * slope;
      outputs[o].derivative += of_value[2 * o + 1] * change + of_slope[2 * o + 1] * slope;
    }
  }
}

}  // namespace concord

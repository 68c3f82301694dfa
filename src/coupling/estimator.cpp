#include "coupling/estimator.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// f and y that keep to their linearisation this closely come from a linear subsystem: rounding and
/// the differences behind the Jacobians stay below it.
constexpr double linear_tolerance = 1e-8;

/// Macro-steps that differ by less than this fraction are of one size (times are t_0 + n h, so that
/// their differences carry rounding).
constexpr double same_step = 1e-8;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> matrix(const std::vector<double>& values, Eigen::Index rows,
                                  Eigen::Index columns) {
  return {values.data(), rows, columns};
}

Eigen::Map<const Eigen::VectorXd> vector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

void copy_values(std::span<const Sample> samples, Eigen::VectorXd& values) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = samples[i].value;
  }
}

bool close(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const double size = std::max(a.lpNorm<Eigen::Infinity>(), b.lpNorm<Eigen::Infinity>());
  return (a - b).lpNorm<Eigen::Infinity>() <= linear_tolerance * size;
}

/// `now` against before + `first` dx + `second` du + rate dt, each component by its own terms.
bool keeps_to(const Eigen::VectorXd& now, const Eigen::VectorXd& before,
              const Eigen::MatrixXd& first, const Eigen::VectorXd& dx,
              const Eigen::MatrixXd& second, const Eigen::VectorXd& du,
              std::span<const double> rate, double dt) {
  Eigen::ArrayXd expected = before.array() + dt * vector(rate).array();
  Eigen::ArrayXd size = now.array().abs() + before.array().abs();
  const auto add = [&](const Eigen::MatrixXd& matrix, const Eigen::VectorXd& change) {
    for (Eigen::Index j = 0; j < change.size(); ++j) {
      expected += matrix.col(j).array() * change[j];
      size += (matrix.col(j).array() * change[j]).abs();
    }
  };
  add(first, dx);
  add(second, du);
  return ((now.array() - expected).abs() <= linear_tolerance * size).all();
}

}  // namespace

Estimator::Estimator(Subsystem& subsystem, std::vector<std::size_t> connected,
                     std::vector<bool> afresh, const EstimatorSettings& settings)
    : subsystem_(subsystem),
      connected_(std::move(connected)),
      afresh_(std::move(afresh)),
      settings_(settings),
      affine_(subsystem.description().capabilities.state_derivatives),
      response_(settings.response) {
  const auto& description = subsystem.description();
  const auto n = static_cast<Eigen::Index>(description.states.size());
  const auto m = static_cast<Eigen::Index>(description.inputs.size());
  const auto outputs = description.outputs.size();
  const auto p = static_cast<Eigen::Index>(outputs);
  a_.resize(n, n);
  b_.resize(n, m);
  c_.resize(p, n);
  d_.resize(p, m);
  f_.setZero(n);
  u_.setZero(m);
  y_.setZero(p);
  gain_.setZero(2 * p, 2 * static_cast<Eigen::Index>(connected_.size()));
  free_.resize(outputs);
  defect_.resize(outputs);
  defect_before_.resize(outputs);
  correction_.resize(outputs);
  begin_values_.resize(connected_.size());
  afresh_.resize(connected_.size(), false);
  begin_slopes_.setZero(static_cast<Eigen::Index>(connected_.size()));
}

bool Estimator::prepare(const MacroStep& step, std::span<const Sample> begin,
                        std::span<const Sample> outputs, bool slopes_known, Outcome& outcome) {
  const double h = step.size();
  outcome_ = Outcome::ok;
  if (affine_ && f_.size() > 0) {
    outcome_ =
        subsystem_.state_derivatives(begin, {f_.data(), static_cast<std::size_t>(f_.size())});
  }
  copy_values(begin, u_);
  copy_values(outputs, y_);
  bool changed = false;
  if (!linearized_ || !affine_ || !follows(step.begin)) {
    const Eigen::MatrixXd old[4] = {a_, b_, c_, d_};
    const bool had_one = linearized_;
    linearize(begin, step.begin);
    const bool same =
        had_one && close(old[0], a_) && close(old[1], b_) && close(old[2], c_) && close(old[3], d_);
    if (same) {
      a_ = old[0];
      b_ = old[1];
      c_ = old[2];
      d_ = old[3];
    }
    changed = !same;
  }
  if (changed || std::abs(h - h_) > same_step * h || slopes_known != slopes_known_) {
    h_ = h;
    slopes_known_ = slopes_known;
    compute_gains();
    changed = true;
  }
  if (!affine_) {
    f_.noalias() = a_ * x_of_linearization_;
    f_.noalias() += b_ * u_of_linearization_;
  }
  compute_free_response(begin, outputs);
  add_defect();
  outcome = outcome_;
  return changed;
}

void Estimator::linearize(std::span<const Sample> begin, double time) {
  if (subsystem_.linearize(begin, linearization_) != Outcome::ok) {
    outcome_ = Outcome::failed;
    return;
  }
  a_ = matrix(linearization_.f_x, a_.rows(), a_.cols());
  b_ = matrix(linearization_.f_u, b_.rows(), b_.cols());
  c_ = matrix(linearization_.g_x, c_.rows(), c_.cols());
  d_ = matrix(linearization_.g_u, d_.rows(), d_.cols());
  x_of_linearization_ = vector(subsystem_.states());
  u_of_linearization_ = u_;
  y_of_linearization_ = y_;
  f_of_linearization_ = f_;
  time_of_linearization_ = time;
  linearized_ = true;
}

bool Estimator::follows(double time) {
  dx_ = vector(subsystem_.states()) - x_of_linearization_;
  du_ = u_ - u_of_linearization_;
  const double dt = time - time_of_linearization_;
  return keeps_to(f_, f_of_linearization_, a_, dx_, b_, du_, linearization_.f_t, dt) &&
         keeps_to(y_, y_of_linearization_, c_, dx_, d_, du_, linearization_.g_t, dt);
}

void Estimator::begin_afresh(std::span<const char> afresh) {
  if (!std::equal(afresh.begin(), afresh.end(), afresh_.begin(),
                  [](char flag, bool known) { return (flag != 0) == known; })) {
    std::transform(afresh.begin(), afresh.end(), afresh_.begin(),
                   [](char flag) { return flag != 0; });
    h_ = 0.0;  // K is that of other holds
  }
}

/// x(h) for a change of each connected input by the shape that it has.
Eigen::MatrixXd Estimator::response_to_ends(const Shape& joined, const Shape& afresh) {
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

/// u - u_N in s = tau/h: alpha_1 s + alpha_2 s^2 + alpha_3 s^3 with, from Eguillon et al. 2022
/// (51), alpha = (h d1, 3 dv - 2 h d1 - h d2, h d1 + h d2 - 2 dv), or from (52), where d1 is not
/// known, alpha = (2 dv - h d2, h d2 - dv, 0). Afresh it is dv - h d2 + h d2 s.
void Estimator::compute_gains() {
  Eigen::MatrixXd b(b_.rows(), static_cast<Eigen::Index>(connected_.size()));
  Eigen::MatrixXd d(d_.rows(), b.cols());
  for (Eigen::Index i = 0; i < b.cols(); ++i) {
    const auto input = static_cast<Eigen::Index>(connected_[static_cast<std::size_t>(i)]);
    b.col(i) = b_.col(input);
    d.col(i) = d_.col(input);
  }
  response_.prepare(a_, b, h_, slopes_known_ ? Shape{0, 1, -2, 1} : Shape{});
  const Eigen::MatrixXd by_value =
      response_to_ends(slopes_known_ ? Shape{0, 0, 3, -2} : Shape{0, 2, -1, 0}, {1, 0, 0, 0});
  const Eigen::MatrixXd by_slope =
      h_ * response_to_ends(slopes_known_ ? Shape{0, 0, -1, 1} : Shape{0, -1, 1, 0}, {-1, 1, 0, 0});
  const Eigen::MatrixXd value_to_value = c_ * by_value + d;
  const Eigen::MatrixXd slope_to_value = c_ * by_slope;
  const Eigen::MatrixXd value_to_slope = c_ * (a_ * by_value + b);
  const Eigen::MatrixXd slope_to_slope = c_ * (a_ * by_slope) + d;
  for (Eigen::Index o = 0; o < c_.rows(); ++o) {
    for (Eigen::Index i = 0; i < b.cols(); ++i) {
      gain_(2 * o, 2 * i) = value_to_value(o, i);
      gain_(2 * o, 2 * i + 1) = slope_to_value(o, i);
      gain_(2 * o + 1, 2 * i) = value_to_slope(o, i);
      gain_(2 * o + 1, 2 * i + 1) = slope_to_slope(o, i);
    }
  }
}

void Estimator::compute_free_response(std::span<const Sample> begin,
                                      std::span<const Sample> outputs) {
  const auto f_t = vector(linearization_.f_t);
  const auto g_t = vector(linearization_.g_t);
  ramp_ = h_ * f_t;
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const Sample& input = begin[connected_[i]];
    begin_values_[i] = input.value;
    const bool continues = !afresh_[i];
    begin_slopes_[static_cast<Eigen::Index>(i)] = continues ? h_ * input.derivative : 0.0;
  }
  response_.free(f_, ramp_, begin_slopes_, xi_);
  f_end_ = f_ + ramp_;
  f_end_.noalias() += a_ * xi_;
  for (std::size_t o = 0; o < free_.size(); ++o) {
    const auto row = static_cast<Eigen::Index>(o);
    free_[o].value = outputs[o].value + c_.row(row).dot(xi_) + h_ * g_t[row];
    free_[o].derivative = c_.row(row).dot(f_end_) + g_t[row];
  }
}

void Estimator::predict(std::span<const Sample> end, std::span<Sample> outputs) const {
  for (std::size_t o = 0; o < free_.size(); ++o) {
    outputs[o] = free_[o];
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      const double change = end[connected_[i]].value - begin_values_[i];
      const double slope = end[connected_[i]].derivative;
      outputs[o].value += gain(o, 0, i, 0) * change + gain(o, 0, i, 1) * slope;
      outputs[o].derivative += gain(o, 1, i, 0) * change + gain(o, 1, i, 1) * slope;
    }
  }
}

void Estimator::output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const {
  if (!linearized_) {
    return;
  }
  const Eigen::VectorXd x = vector(subsystem_.states()).cwiseAbs();
  Eigen::VectorXd u(u_.size()), slope(u_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    u[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].value);
    slope[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].derivative);
  }
  const Eigen::VectorXd f = a_.cwiseAbs() * x + b_.cwiseAbs() * u;
  const Eigen::VectorXd values = c_.cwiseAbs() * x + d_.cwiseAbs() * u;
  const Eigen::VectorXd slopes = c_.cwiseAbs() * f + d_.cwiseAbs() * slope;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o] = {values[static_cast<Eigen::Index>(o)], slopes[static_cast<Eigen::Index>(o)]};
  }
}

/// The local error of an estimate varies slowly: that of the last macro-step, scaled with its order
/// in h (one less for y' than for y), is expected in the next one too.
Sample Estimator::expected_defect(std::size_t output) const {
  const auto scaled = [&](const Sample& defect, double ratio) {
    const double slope = affine_ ? ratio * ratio : ratio;
    return Sample{defect.value * slope * ratio, defect.derivative * slope};
  };
  const Sample last = scaled(defect_[output], h_ / defect_h_);
  if (settings_.defect == Defect::constant || defects_known_ < 2) {
    return last;
  }
  const Sample before = scaled(defect_before_[output], h_ / defect_before_h_);
  const double weight = (defect_h_ + h_) / (defect_h_ + defect_before_h_);
  return {last.value + weight * (last.value - before.value),
          last.derivative + weight * (last.derivative - before.derivative)};
}

void Estimator::add_defect() {
  if (settings_.defect == Defect::none || defects_known_ == 0) {
    return;
  }
  for (std::size_t o = 0; o < free_.size(); ++o) {
    correction_[o] = expected_defect(o);
    free_[o].value += correction_[o].value;
    free_[o].derivative += correction_[o].derivative;
  }
}

void Estimator::observe(std::span<const Sample> end, std::span<const Sample> outputs) {
  std::swap(defect_, defect_before_);
  defect_before_h_ = defect_h_;
  defect_h_ = h_;
  defects_known_ = std::min(defects_known_ + 1, 2);
  predict(end, defect_);
  for (std::size_t o = 0; o < defect_.size(); ++o) {
    defect_[o].value = outputs[o].value - defect_[o].value + correction_[o].value;
    defect_[o].derivative =
        outputs[o].derivative - defect_[o].derivative + correction_[o].derivative;
  }
}

void Estimator::forget() {
  defects_known_ = 0;
  std::fill(correction_.begin(), correction_.end(), Sample{});
}

}  // namespace concord

#include "coupling/estimation/estimator.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/estimation/small_product.hpp"

namespace concord {
namespace {

/// Derivatives that differ by less, relative to each, are the same: rounding stays below it.
constexpr double same_entry = 1e-10;

/// The same for what an entry makes of its variable, relative to all of the row's terms.
constexpr double same_effect = 1e-14;

/// Macro-steps that differ by less than this fraction are of one size.
constexpr double same_step = 1e-12;

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

/// Whether a row of derivatives is the same at the variables' values `at`: entry by entry, so that
/// large ones hide none.
bool same_row(std::span<const double> now, std::span<const double> before,
              const Eigen::VectorXd& at) {
  double effects = 0.0;
  for (std::size_t j = 0; j < now.size(); ++j) {
    effects += std::abs(now[j] * at[static_cast<Eigen::Index>(j)]);
  }
  for (std::size_t j = 0; j < now.size(); ++j) {
    const double change = std::abs(now[j] - before[j]);
    const double entry = std::max(std::abs(now[j]), std::abs(before[j]));
    const double effect = change * std::abs(at[static_cast<Eigen::Index>(j)]);
    if (!(change <= same_entry * entry || (effect > 0.0 && effect <= same_effect * effects))) {
      return false;
    }
  }
  return true;
}

bool same(const std::vector<double>& now, const std::vector<double>& before,
          const Eigen::VectorXd& at) {
  const auto width = static_cast<std::size_t>(at.size());
  for (std::size_t first = 0; first < now.size(); first += width) {
    if (!same_row(std::span(now).subspan(first, width), std::span(before).subspan(first, width),
                  at)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Estimator::Estimator(Subsystem& subsystem, std::vector<std::size_t> connected,
                     std::vector<bool> afresh, const EstimatorSettings& settings)
    : subsystem_(subsystem),
      connected_(std::move(connected)),
      afresh_(std::move(afresh)),
      settings_(settings),
      affine_(subsystem.description().capabilities.state_derivatives),
      follows_curves_(subsystem.description().capabilities.state_outputs &&
                      settings.response != Response::linear_implicit),
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
  x_.setZero(n);
  f_.setZero(n);
  u_.setZero(m);
  gain_.setZero(2 * p, 2 * static_cast<Eigen::Index>(connected_.size()));
  free_.resize(outputs);
  tangent_.resize(outputs);
  reached_.resize(outputs);
  defect_.resize(outputs);
  defect_before_.resize(outputs);
  correction_.resize(outputs);
  begin_values_.resize(connected_.size());
  afresh_.resize(connected_.size(), false);
  begin_slopes_.setZero(static_cast<Eigen::Index>(connected_.size()));
}

bool Estimator::prepare(const MacroStep& step, std::span<const Sample> begin,
                        std::span<const Sample> outputs, bool slopes_known, Outcome& outcome) {
  step_ = step;
  outcome_ = Outcome::ok;
  x_ = vector(subsystem_.states());
  copy_values(begin, u_);
  bool changed = renew_linearization(begin);
  find_derivatives(begin);
  const double h = step.size();
  if (changed || std::abs(h - h_) > same_step * h || slopes_known != slopes_known_) {
    h_ = h;
    slopes_known_ = slopes_known;
    compute_gains();
    changed = true;
  }
  compute_free_response(begin, outputs);
  add_defect();
  if (curved_) {
    tangent_ = free_;
  }
  corrected_ = false;
  outcome = outcome_;
  return changed;
}

/// True: A, B, C or D has changed.
bool Estimator::renew_linearization(std::span<const Sample> begin) {
  if (linearized_ && subsystem_.keeps(linearization_, begin)) {
    curved_ = false;
    return false;
  }
  const bool first = !linearized_;
  const bool changed = linearize(begin);
  curved_ = follows_curves_ && !(first && linearized_ && subsystem_.keeps(linearization_, begin));
  return changed;
}

bool Estimator::linearize(std::span<const Sample> begin) {
  Linearization& now = linearized_ ? renewed_ : linearization_;
  if (subsystem_.linearize(begin, now) != Outcome::ok) {
    outcome_ = Outcome::failed;
    return false;
  }
  if (linearized_ && same(now.f_x, linearization_.f_x, x_) &&
      same(now.f_u, linearization_.f_u, u_) && same(now.g_x, linearization_.g_x, x_) &&
      same(now.g_u, linearization_.g_u, u_)) {
    std::swap(linearization_.f_t, renewed_.f_t);
    std::swap(linearization_.g_t, renewed_.g_t);
    return false;
  }
  if (linearized_) {
    std::swap(linearization_, renewed_);
  }
  a_ = matrix(linearization_.f_x, a_.rows(), a_.cols());
  b_ = matrix(linearization_.f_u, b_.rows(), b_.cols());
  c_ = matrix(linearization_.g_x, c_.rows(), c_.cols());
  d_ = matrix(linearization_.g_u, d_.rows(), d_.cols());
  linearized_ = true;
  return true;
}

/// f at t_N; without it what the linearisation alone says.
void Estimator::find_derivatives(std::span<const Sample> begin) {
  if (!affine_) {
    f_.noalias() = a_ * x_;
    f_.noalias() += b_ * u_;
  } else if (f_.size() > 0 &&
             subsystem_.state_derivatives(
                 begin, {f_.data(), static_cast<std::size_t>(f_.size())}) != Outcome::ok) {
    outcome_ = Outcome::failed;
  }
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
  by_value_ =
      response_to_ends(slopes_known_ ? Shape{0, 0, 3, -2} : Shape{0, 2, -1, 0}, {1, 0, 0, 0});
  by_slope_ =
      h_ * response_to_ends(slopes_known_ ? Shape{0, 0, -1, 1} : Shape{0, -1, 1, 0}, {-1, 1, 0, 0});
  const Eigen::MatrixXd value_to_value = c_ * by_value_ + d;
  const Eigen::MatrixXd slope_to_value = c_ * by_slope_;
  const Eigen::MatrixXd value_to_slope = c_ * (a_ * by_value_ + b);
  const Eigen::MatrixXd slope_to_slope = c_ * (a_ * by_slope_) + d;
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
  add_product(a_, xi_, f_end_);
  for (std::size_t o = 0; o < free_.size(); ++o) {
    const auto row = static_cast<Eigen::Index>(o);
    free_[o].value = outputs[o].value + c_.row(row).dot(xi_) + h_ * g_t[row];
    free_[o].derivative = c_.row(row).dot(f_end_) + g_t[row];
  }
}

/// outputs += sign K (u - u_N, u').
void Estimator::add_gains(std::span<const Sample> end, double sign,
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

void Estimator::predict(std::span<const Sample> end, std::span<Sample> outputs) {
  if (curved_ && reach(end, outputs)) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].value += correction_[o].value;
      outputs[o].derivative += correction_[o].derivative;
    }
    return;
  }
  std::copy(free_.begin(), free_.end(), outputs.begin());
  add_gains(end, 1.0, outputs);
}

bool Estimator::correct(std::span<const Sample> end) {
  if (!curved_) {
    return true;
  }
  if (!reach(end, reached_)) {
    return_to_tangent();
    return false;
  }
  add_gains(end, -1.0, reached_);
  for (std::size_t o = 0; o < free_.size(); ++o) {
    free_[o] = {reached_[o].value + correction_[o].value,
                reached_[o].derivative + correction_[o].derivative};
  }
  corrected_ = true;
  return true;
}

void Estimator::match(std::span<const Sample> end, std::span<const Sample> outputs) {
  std::copy(outputs.begin(), outputs.end(), free_.begin());
  add_gains(end, -1.0, free_);
}

void Estimator::return_to_tangent() {
  if (curved_) {
    free_ = tangent_;
  }
  corrected_ = false;
}

/// y, y' where the inputs lead, defect aside. False where f or g fails there or isn't finite.
bool Estimator::reach(std::span<const Sample> end, std::span<Sample> outputs) {
  x_end_ = xi_;
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const Sample& input = end[connected_[i]];
    x_end_ += by_value_.col(column) * (input.value - begin_values_[i]);
    x_end_ += by_slope_.col(column) * input.derivative;
  }
  rho_ = -f_ - ramp_;
  rho_.noalias() -= a_ * x_end_;
  x_end_ += x_;
  const StatePoint point{
      step_.end, h_, {x_end_.data(), static_cast<std::size_t>(x_end_.size())}, end};
  return bend(point) && subsystem_.outputs_at(point, outputs) == Outcome::ok;
}

/// x^ += 2 h phi_3(hA) rho.
bool Estimator::bend(const StatePoint& point) {
  if (!affine_ || x_end_.size() == 0) {
    return true;
  }
  f_end_.resize(f_.size());
  if (subsystem_.derivatives_at(point, {f_end_.data(), static_cast<std::size_t>(f_end_.size())}) !=
      Outcome::ok) {
    return false;
  }
  rho_ += f_end_;
  for (Eigen::Index i = 0; i < u_.size(); ++i) {
    rho_ -= b_.col(i) * (point.inputs[static_cast<std::size_t>(i)].value - u_[i]);
  }
  response_.to_square(rho_, bend_);
  x_end_ += bend_;
  return x_end_.allFinite();
}

/// The local error of an estimate varies slowly: that of the last macro-step, scaled with its order
/// in h, is expected in the next one too. Of a tangent y' has one order less than y; where curves
/// are followed both have the same.
Sample Estimator::scaled(const Sample& defect, double ratio) const {
  if (curved_) {
    const double fourth = ratio * ratio * ratio * ratio;
    return {defect.value * fourth, defect.derivative * fourth};
  }
  const double slope = affine_ ? ratio * ratio : ratio;
  return {defect.value * slope * ratio, defect.derivative * slope};
}

/// The last defects, or, where two are known, what continues them. Those of tangents say nothing
/// about those of curves, and the reverse.
void Estimator::add_defect() {
  if (defect_of_curves_ != curved_) {
    forget();
  }
  if (settings_.defect == Defect::none || defects_known_ == 0) {
    return;
  }
  const bool continues = settings_.defect != Defect::constant && defects_known_ >= 2;
  const double to_last = h_ / defect_h_, to_before = continues ? h_ / defect_before_h_ : 0.0;
  const double weight = continues ? (defect_h_ + h_) / (defect_h_ + defect_before_h_) : 0.0;
  for (std::size_t o = 0; o < free_.size(); ++o) {
    correction_[o] = scaled(defect_[o], to_last);
    if (continues) {
      const Sample last = correction_[o], before = scaled(defect_before_[o], to_before);
      correction_[o].value += weight * (last.value - before.value);
      correction_[o].derivative += weight * (last.derivative - before.derivative);
    }
    free_[o].value += correction_[o].value;
    free_[o].derivative += correction_[o].derivative;
  }
}

void Estimator::observe(std::span<const Sample> end, std::span<const Sample> outputs) {
  if (!corrected_) {
    correct(end);
  }
  if (defect_of_curves_ != corrected_) {
    defects_known_ = 0;
  }
  defect_of_curves_ = corrected_;
  std::swap(defect_, defect_before_);
  defect_before_h_ = defect_h_;
  defect_h_ = h_;
  defects_known_ = std::min(defects_known_ + 1, 2);
  std::copy(free_.begin(), free_.end(), defect_.begin());
  add_gains(end, 1.0, defect_);
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

void Estimator::restart() {
  forget();
  linearized_ = false;
  h_ = 0.0;
}

}  // namespace concord

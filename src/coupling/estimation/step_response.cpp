#include "coupling/estimation/step_response.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "coupling/estimation/small_product.hpp"

namespace concord {
namespace {

/// States from which Krylov spaces serve. Measured with two inputs, A changed: phi matrices and
/// Krylov spaces take 0.4 and 0.3 ms with 20 states, 3 and 0.6 ms with 40, 90 and 1.5 ms with 120;
/// with A unchanged 40 states are about even.
constexpr Eigen::Index large_from = 40;

/// Passes over all states; each takes the square root of what is still unbalanced.
constexpr int most_passes = 50;

/// The power of 16 next to sqrt(row / column).
double power_between(double row, double column) {
  const double ratio = row / column;
  if (ratio > 1.0 / 16.0 && ratio < 16.0) return 1.0;
  const double exponent = std::round(0.125 * std::log2(ratio));
  return std::isfinite(exponent) ? std::ldexp(1.0, 4 * static_cast<int>(exponent)) : 1.0;
}

/// Of each state whether an input drives it, or a state that one drives; of |A, B|.
std::vector<bool> driven_states(const Eigen::MatrixXd& magnitudes) {
  const Eigen::Index n = magnitudes.rows();
  std::vector<bool> driven(static_cast<std::size_t>(n));
  std::vector<Eigen::Index> drivers;
  for (Eigen::Index input = n; input < magnitudes.cols(); ++input) drivers.push_back(input);
  while (!drivers.empty()) {
    const Eigen::Index driver = drivers.back();
    drivers.pop_back();
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto state = static_cast<std::size_t>(i);
      if (driven[state] || !(magnitudes(i, driver) > 0.0)) continue;
      driven[state] = true;
      drivers.push_back(i);
    }
  }
  return driven;
}

/// h |A, B| without A's diagonal, of entries; rows of states, columns of states and inputs.
class Magnitudes {
 public:
  Magnitudes(const Entries& a, const Eigen::MatrixXd& b, double h)
      : states_(a.rows()),
        in_row_(static_cast<std::size_t>(a.rows())),
        in_column_(static_cast<std::size_t>(a.rows() + b.cols())) {
    for (Eigen::Index row = 0; row < a.rows(); ++row)
      for (Entries::InnerIterator entry(a, row); entry; ++entry)
        if (entry.col() != row) add(row, entry.col(), h * std::abs(entry.value()));
    for (Eigen::Index column = 0; column < b.cols(); ++column)
      for (Eigen::Index row = 0; row < b.rows(); ++row)
        if (b(row, column) != 0.0) add(row, states_ + column, h * std::abs(b(row, column)));
  }

  Eigen::Index states() const { return states_; }
  double largest_in_row(Eigen::Index row) const { return largest(in_row_[at(row)]); }
  double largest_in_column(Eigen::Index column) const { return largest(in_column_[at(column)]); }
  void scale_row(Eigen::Index row, double factor) { scale(in_row_[at(row)], factor); }
  void scale_column(Eigen::Index column, double factor) { scale(in_column_[at(column)], factor); }

  std::vector<bool> driven_states() const {
    std::vector<bool> driven(in_row_.size());
    std::vector<std::size_t> drivers;
    for (std::size_t input = in_row_.size(); input < in_column_.size(); ++input)
      drivers.push_back(input);
    while (!drivers.empty()) {
      const std::size_t driver = drivers.back();
      drivers.pop_back();
      for (const std::size_t entry : in_column_[driver]) {
        if (driven[rows_[entry]] || !(values_[entry] > 0.0)) continue;
        driven[rows_[entry]] = true;
        drivers.push_back(rows_[entry]);
      }
    }
    return driven;
  }

 private:
  static std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }
  void add(Eigen::Index row, Eigen::Index column, double value) {
    in_row_[at(row)].push_back(values_.size());
    in_column_[at(column)].push_back(values_.size());
    rows_.push_back(at(row));
    values_.push_back(value);
  }
  double largest(const std::vector<std::size_t>& entries) const {
    double result = 0.0;
    for (const std::size_t entry : entries) result = std::max(result, values_[entry]);
    return result;
  }
  void scale(const std::vector<std::size_t>& entries, double factor) {
    for (const std::size_t entry : entries) values_[entry] *= factor;
  }

  Eigen::Index states_;
  std::vector<std::vector<std::size_t>> in_row_, in_column_;
  std::vector<std::size_t> rows_;
  std::vector<double> values_;
};

/// The same of a whole matrix.
class WholeMagnitudes {
 public:
  explicit WholeMagnitudes(Eigen::MatrixXd& values) : values_(values) {}

  Eigen::Index states() const { return values_.rows(); }
  double largest_in_row(Eigen::Index row) const { return values_.row(row).maxCoeff(); }
  double largest_in_column(Eigen::Index column) const { return values_.col(column).maxCoeff(); }
  void scale_row(Eigen::Index row, double factor) { values_.row(row) *= factor; }
  void scale_column(Eigen::Index column, double factor) { values_.col(column) *= factor; }

 private:
  Eigen::MatrixXd& values_;
};

/// One pass over h |A, B| without A's diagonal: inputs get units in which the strongest effect of
/// each is one. States that nothing drives need no other ones than those in which they move others
/// by little: of such that move each other, however small h is, none would be small enough. False
/// where nothing has changed.
template <class AnyMagnitudes>
bool balance_once(const std::vector<bool>& driven, AnyMagnitudes& magnitudes,
                  Eigen::VectorXd& units) {
  const Eigen::Index n = magnitudes.states();
  bool changed = false;
  for (Eigen::Index i = 0; i < units.size(); ++i) {
    const double column = magnitudes.largest_in_column(i);
    const bool is_driven = i < n && driven[static_cast<std::size_t>(i)];
    const double factor =
        i < n ? power_between(is_driven ? magnitudes.largest_in_row(i) : 1.0, std::max(column, 1.0))
              : power_between(1.0, column);
    if (factor == 1.0) continue;
    units[i] *= factor;
    if (i < n) magnitudes.scale_row(i, 1.0 / factor);  // a power of 16
    magnitudes.scale_column(i, factor);
    changed = true;
  }
  return changed;
}

}  // namespace

Eigen::VectorXd balancing_units(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  const Eigen::Index n = a.rows();
  if (n < 2 || !a.allFinite() || !b.allFinite()) return Eigen::VectorXd::Ones(n);
  Eigen::MatrixXd magnitudes(n, n + b.cols());
  magnitudes.leftCols(n) = h * a.cwiseAbs();
  magnitudes.rightCols(b.cols()) = h * b.cwiseAbs();
  magnitudes.diagonal().setZero();
  const std::vector<bool> driven = driven_states(magnitudes);
  Eigen::VectorXd units = Eigen::VectorXd::Ones(magnitudes.cols());
  WholeMagnitudes whole(magnitudes);
  for (int pass = 0; pass < most_passes && balance_once(driven, whole, units); ++pass) continue;
  return units.head(n);
}

Eigen::VectorXd balancing_units(const Entries& a, const Eigen::MatrixXd& b, double h) {
  const Eigen::Index n = a.rows();
  const std::span values(a.valuePtr(), static_cast<std::size_t>(a.nonZeros()));
  if (n < 2 || !std::ranges::all_of(values, [](double v) { return std::isfinite(v); }) ||
      !b.allFinite())
    return Eigen::VectorXd::Ones(n);
  Magnitudes magnitudes(a, b, h);
  Eigen::VectorXd units = Eigen::VectorXd::Ones(n + b.cols());
  const std::vector<bool> driven = magnitudes.driven_states();
  for (int pass = 0; pass < most_passes && balance_once(driven, magnitudes, units); ++pass)
    continue;
  return units.head(n);
}

void StepResponse::prepare(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h,
                           const Leaving& leaving) {
  large_ = a.rows() >= large_from && response_ == Response::expm;
  leaving_ = leaving;
  units_ = balancing_units(a, b, h);
  const auto inverse = units_.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd balanced = inverse * a * units_.asDiagonal();
  b_ = inverse * b;
  if (large_) {
    forcing_.resize(a.rows(), degree_ + 1);
    action_.prepare(balanced, h);
  } else {
    phi_.compute(balanced, b_, h, response_, degree_);
    from_slopes_ = units_.cwiseInverse().asDiagonal() * to_inputs(leaving.by_slope);
    if (degree_ > 3) {
      from_curvatures_ = units_.cwiseInverse().asDiagonal() * to_inputs(leaving.by_curvature);
    }
  }
}

void StepResponse::prepare(const Entries& a, const Eigen::MatrixXd& b, double h,
                           const Leaving& leaving) {
  large_ = true;
  leaving_ = leaving;
  units_ = balancing_units(a, b, h);
  const auto inverse = units_.cwiseInverse().asDiagonal();
  b_ = inverse * b;
  forcing_.resize(a.rows(), degree_ + 1);
  action_.prepare(Eigen::SparseMatrix<double>(inverse * a * units_.asDiagonal()), h);
}

Eigen::MatrixXd StepResponse::to_inputs(const Shape& shape) {
  if (!large_) {
    Eigen::MatrixXd response = Eigen::MatrixXd::Zero(b_.rows(), b_.cols());
    if (shape[0] != 0.0) response.noalias() += shape[0] * (phi_.constant * b_);
    for (std::size_t p = 1; p <= phi_.power.size(); ++p) {
      if (shape[p] != 0.0) response += shape[p] * phi_.power[p - 1];
    }
    response.array().colwise() *= units_.array();
    return response;
  }
  Eigen::MatrixXd result(b_.rows(), b_.cols());
  for (Eigen::Index i = 0; i < b_.cols(); ++i) {
    for (Eigen::Index p = 0; p <= degree_; ++p) {
      forcing_.col(p) = shape[static_cast<std::size_t>(p)] * b_.col(i);
    }
    result.col(i) = units_.cwiseProduct(action_.response(forcing_));
  }
  return result;
}

void StepResponse::free(const Eigen::VectorXd& constant, const Eigen::VectorXd& ramp,
                        const Eigen::VectorXd& slopes, const Eigen::VectorXd& curvatures,
                        Eigen::VectorXd& x) {
  constant_ = constant.cwiseQuotient(units_);
  ramp_ = ramp.cwiseQuotient(units_);
  if (!large_) {
    x.setZero(constant_.size());
    add_product(phi_.constant, constant_, x);
    if (!ramp_.isZero(0.0)) {
      add_product(phi_.ramp, ramp_, x);
    }
    add_product(from_slopes_, slopes, x);
    if (degree_ > 3) {
      add_product(from_curvatures_, curvatures, x);
    }
    x.array() *= units_.array();
    return;
  }
  forcing_.col(0) = constant_;
  forcing_.col(1) = ramp_;
  forcing_.rightCols(degree_ - 1).setZero();
  for (Eigen::Index p = 0; p <= degree_; ++p) {
    const auto power = static_cast<std::size_t>(p);
    forcing_.col(p) += leaving_.by_slope[power] * (b_ * slopes);
    if (degree_ > 3) {
      forcing_.col(p) += leaving_.by_curvature[power] * (b_ * curvatures);
    }
  }
  x = units_.cwiseProduct(action_.response(forcing_));
}

void StepResponse::to_square(const Eigen::VectorXd& vector, Eigen::VectorXd& x) {
  constant_ = vector.cwiseQuotient(units_);
  if (!large_) {
    x.noalias() = phi_.square * constant_;
    x.array() *= units_.array();
    return;
  }
  forcing_.setZero();
  forcing_.col(2) = constant_;
  x = units_.cwiseProduct(action_.response(forcing_));
}

}  // namespace concord

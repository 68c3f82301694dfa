#include "studies/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "support/dense_decompositions.hpp"
#include "support/factorizations.hpp"
#include "support/matrix_exponential.hpp"

namespace concord {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::MatrixXd;

std::vector<Complex> sorted_eigenvalues(const Dense& a) {
  if (a.rows() == 0) return {};
  const Eigen::VectorXcd values = modes_of(a).shown_eigenvalues();
  return {values.begin(), values.end()};
}

void sort_by_real_part(std::vector<Complex>& values) {
  std::ranges::stable_sort(values, std::greater<>(), [](Complex z) { return z.real(); });
}

/// On a logarithmic axis, where `sign` changes between two frequencies.
double bisected(double low, double high, const std::function<double(double)>& sign) {
  const bool positive = sign(low) > 0.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    if (!(low < middle && middle < high)) break;
    ((sign(middle) > 0.0) == positive ? low : high) = middle;
  }
  return high;
}

/// The smallest value between two frequencies, by golden section on a logarithmic axis.
double lowest(double low, double high, const std::function<double(double)>& value) {
  const double ratio = std::numbers::phi - 1.0;
  double from = std::log(low), to = std::log(high);
  for (int i = 0; i < 60; ++i) {
    const double a = to - ratio * (to - from), b = from + ratio * (to - from);
    (value(std::exp(a)) < value(std::exp(b)) ? to : from) =
        value(std::exp(a)) < value(std::exp(b)) ? b : a;
  }
  return std::exp(0.5 * (from + to));
}

double magnitude_beyond_zero(const std::vector<Complex>& values, bool largest) {
  double found = 0.0;
  for (const Complex& value : values) {
    const double size = std::abs(value);
    if (size > 0.0 && (found == 0.0 || (largest ? size > found : size < found))) found = size;
  }
  return found;
}

}  // namespace

StateSpace balanced(const StateSpace& system) {
  const Eigen::Index n = system.a.rows();
  Dense whole = Dense::Zero(n + 1, n + 1);
  whole.topLeftCorner(n, n) = system.a;
  whole.topRightCorner(n, 1) = system.b.cwiseAbs().rowwise().sum();
  whole.bottomLeftCorner(1, n) = system.c.cwiseAbs().colwise().sum();
  const Eigen::VectorXd all = balancing_sizes(whole);
  const Eigen::VectorXd sizes = all.head(n) / all[n];
  return {sizes.cwiseInverse().asDiagonal() * system.a * sizes.asDiagonal(),
          sizes.cwiseInverse().asDiagonal() * system.b, system.c * sizes.asDiagonal(), system.d};
}

TransferFunction::TransferFunction(const StateSpace& given) : d_(given.d) {
  const StateSpace system = balanced(given);
  const SchurForm schur = schur_form(system.a);
  t_ = schur.t;
  b_ = schur.q.transpose() * system.b;
  c_ = system.c * schur.q;
}

/// With x = p + i q and s = a + i w, (s - T) x = b is T [p, q] - [p, q] [a, w; -w, a] = [-b, 0].
Eigen::MatrixXcd TransferFunction::operator()(Complex s) const {
  Eigen::MatrixXcd result = d_.cast<Complex>();
  if (t_.rows() == 0) return result;
  Dense turned(2, 2);
  turned << s.real(), s.imag(), -s.imag(), s.real();
  Dense right = Dense::Zero(t_.rows(), 2);
  for (Eigen::Index input = 0; input < b_.cols(); ++input) {
    right.col(0) = -b_.col(input);
    const Dense outputs = c_ * solved_sylvester(Sylvester::difference, t_, turned, right);
    result.col(input).real() += outputs.col(0);
    result.col(input).imag() += outputs.col(1);
  }
  return result;
}

std::optional<Eigen::VectorXcd> zeros_of(const StateSpace& given) {
  constexpr double nothing = 1e-10;
  const StateSpace system = balanced(given);
  const Eigen::Index n = system.a.rows();
  const Eigen::VectorXd b = system.b.col(0);
  const double scale = std::max(1.0, n == 0 ? 0.0 : system.a.norm());
  double gain = system.d(0, 0);
  Eigen::RowVectorXd row = system.c.row(0);
  Dense shown(0, n);
  // Direct feedthrough counts where it is not small against what an integration gives.
  bool found = std::abs(gain) * scale > nothing * row.norm() * b.norm();
  while (!found) {
    if (shown.rows() == n || row.norm() == 0.0) return std::nullopt;
    row.normalize();
    shown.conservativeResize(shown.rows() + 1, Eigen::NoChange);
    shown.bottomRows(1) = row;
    gain = row * b;
    found = std::abs(gain) > nothing * b.norm();
    row = row * system.a;
  }
  Dense hidden = Dense::Identity(n, n);
  if (shown.rows() > 0) {
    hidden = orthonormal_basis(shown.transpose()).rightCols(n - shown.rows());
  }
  const Dense inner = hidden.transpose() * (system.a - b * row / gain) * hidden;
  const auto values = sorted_eigenvalues(inner);
  return Eigen::Map<const Eigen::VectorXcd>(values.data(), std::ssize(values));
}

PolesAndZeros poles_and_zeros(const StateSpace& system) {
  constexpr double same = 1e-6, rounding = 1e-9;
  PolesAndZeros found;
  found.poles = sorted_eigenvalues(system.a);
  const auto zeros = zeros_of(system);
  if (!zeros) {
    found.passes = false;
    found.cancelled = std::exchange(found.poles, {});
    return found;
  }
  const double largest = magnitude_beyond_zero(found.poles, true);
  for (const Complex& zero : *zeros) {
    const auto nearest = std::ranges::min_element(
        found.poles, {}, [&](const Complex& pole) { return std::abs(pole - zero); });
    const bool cancels = nearest != found.poles.end() &&
                         std::abs(*nearest - zero) <= same * std::abs(zero) + rounding * largest;
    if (cancels) {
      found.cancelled.push_back(*nearest);
      found.poles.erase(nearest);
    } else {
      found.zeros.push_back(zero);
    }
  }
  sort_by_real_part(found.zeros);
  return found;
}

std::vector<double> frequency_grid(const std::vector<Complex>& poles,
                                   const std::vector<Complex>& zeros) {
  constexpr double per_decade = 100.0, beyond = 100.0, most_decades = 12.0;
  std::vector<Complex> all = poles;
  all.insert(all.end(), zeros.begin(), zeros.end());
  double low = magnitude_beyond_zero(all, false), high = magnitude_beyond_zero(all, true);
  if (low == 0.0) low = high = 1.0;
  low = std::max(low, high * std::pow(10.0, -most_decades)) / beyond;
  high *= beyond;
  std::vector<double> grid;
  const double count = std::ceil(std::log10(high / low) * per_decade);
  for (double i = 0.0; i <= count; i += 1.0) grid.push_back(low * std::pow(high / low, i / count));
  for (const Complex& value : all) {
    const double centre = std::abs(value.imag());
    const double width = std::max(std::abs(value.real()), 1e-9 * centre);
    if (centre < low || width > 0.5 * centre) continue;
    grid.push_back(centre);
    for (double distance = 0.1 * width; distance < 0.5 * centre; distance *= 1.5) {
      grid.push_back(centre - distance);
      grid.push_back(centre + distance);
    }
  }
  std::ranges::sort(grid);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

LoopMargins loop_margins(const StateSpace& return_ratio) {
  constexpr double on_axis = 1e-9, exact = 1e-6;
  const TransferFunction transfer(return_ratio);
  const auto ratio = [&](double frequency) { return transfer({0.0, frequency})(0, 0); };
  const PolesAndZeros known = poles_and_zeros(return_ratio);
  const std::vector<double> grid = frequency_grid(known.poles, known.zeros);
  const auto size = [&](double w) { return std::abs(ratio(w)) - 1.0; };
  const auto height = [&](double w) { return ratio(w).imag(); };
  const auto distance = [&](double w) { return std::abs(1.0 + ratio(w)); };
  const auto stands = [&](Complex l) {
    return std::isfinite(std::abs(l)) && std::abs(l.imag()) > on_axis * std::abs(l);
  };
  LoopMargins margins;
  margins.nearest = {grid.front(), distance(grid.front())};
  std::size_t closest = 0;
  Complex before = ratio(grid.front());
  for (std::size_t i = 1; i < grid.size(); ++i) {
    const Complex here = ratio(grid[i]);
    if ((std::abs(before) > 1.0) != (std::abs(here) > 1.0)) {
      const double w = bisected(grid[i - 1], grid[i], size);
      if (std::abs(size(w)) < exact) margins.phase.push_back({w, std::arg(-ratio(w))});
    }
    if (stands(before) && stands(here) && (before.imag() > 0.0) != (here.imag() > 0.0)) {
      const double w = bisected(grid[i - 1], grid[i], height);
      const Complex l = ratio(w);
      if (l.real() < 0.0 && std::abs(l.imag()) < exact * std::abs(l))
        margins.gain.push_back({w, 1.0 / std::abs(l)});
    }
    if (std::abs(1.0 + here) < margins.nearest.value) {
      margins.nearest = {grid[i], std::abs(1.0 + here)};
      closest = i;
    }
    before = here;
  }
  const double nearest = lowest(grid[closest == 0 ? 0 : closest - 1],
                                grid[std::min(closest + 1, grid.size() - 1)], distance);
  margins.nearest = {nearest, distance(nearest)};
  for (const Crossing& crossing : margins.phase) {
    const double angle =
        crossing.value > 0.0 ? crossing.value : crossing.value + 2.0 * std::numbers::pi;
    margins.delay = std::min(margins.delay.value_or(std::numeric_limits<double>::infinity()),
                             angle / crossing.frequency);
  }
  return margins;
}

StepCurve step_response(const StateSpace& system, std::optional<double> until) {
  constexpr double decays = 7.0;  // e^-7 is 1e-3
  constexpr int least = 2000, most = 200000, per_period = 40;
  const PolesAndZeros known = poles_and_zeros(system);
  double slowest = 0.0, growth = 0.0, turns = 0.0, fastest = 0.0;
  for (const Complex& pole : known.poles) {
    const double rate = -pole.real();
    if (rate > 0.0 && (slowest == 0.0 || rate < slowest)) slowest = rate;
    growth = std::max(growth, -rate);
    turns = std::max(turns, std::abs(pole.imag()));
    fastest = std::max(fastest, std::abs(pole));
  }
  double end = growth > 0.0 ? decays / growth : slowest > 0.0 ? decays / slowest : 0.0;
  if (end == 0.0) end = fastest > 0.0 ? 10.0 * 2.0 * std::numbers::pi / fastest : 1.0;
  end = until.value_or(end);
  const double wanted = end * turns / (2.0 * std::numbers::pi) * per_period;
  const int count = static_cast<int>(std::clamp(wanted, double{least}, double{most}));
  const StateSpace sized = balanced(system);
  const Eigen::Index n = sized.a.rows();
  Dense generator = Dense::Zero(n + 1, n + 1);
  generator.topLeftCorner(n, n) = sized.a;
  generator.topRightCorner(n, 1) = sized.b;
  const Dense step = matrix_exponential(generator * (end / count));
  Eigen::VectorXd state = Eigen::VectorXd::Unit(n + 1, n);
  StepCurve response;
  for (int i = 0; i <= count; ++i) {
    response.time.push_back(end * i / count);
    response.value.push_back((sized.c * state.head(n))(0) + sized.d(0, 0));
    state = step * state;
  }
  return response;
}

}  // namespace concord

#include "signal/input_spline.hpp"

#include "signal/hold.hpp"

namespace concord {
namespace {

using Knots = std::array<Sample, InputSpline::pieces + 1>;

/// s at the knots, slopes for h = 1: the mean of two integrated quadratic B-splines.
constexpr Knots rise{
    {{0.0, 0.0}, {1.0 / 12.0, 1.0}, {1.0 / 2.0, 2.0}, {11.0 / 12.0, 1.0}, {1.0, 0.0}}};

/// The cubic B-spline at its knots, for h = 1.
constexpr Knots bump{
    {{0.0, 0.0}, {2.0 / 3.0, 8.0}, {8.0 / 3.0, 0.0}, {2.0 / 3.0, -8.0}, {0.0, 0.0}}};

constexpr double knot(int p, double h) { return h * p / InputSpline::pieces; }

}  // namespace

InputSpline::InputSpline(const Polynomial& cubic, double h) {
  for (int p = 0; p <= pieces; ++p) {
    knots_[p] = cubic.at(knot(p, h));
  }
}

InputSpline::InputSpline(const Polynomial& old, double old_h, const Polynomial& cubic, double h) {
  for (int p = 0; p <= pieces; ++p) {
    const Sample from = old.at(old_h + knot(p, h));
    const Sample to = cubic.at(knot(p, h));
    const double s = rise[p].value;
    const double ds = rise[p].derivative / h;
    knots_[p] = {(1.0 - s) * from.value + s * to.value,
                 (1.0 - s) * from.derivative + s * to.derivative + ds * (to.value - from.value)};
  }
}

void InputSpline::add_bump(double amount, double h) {
  for (int p = 0; p <= pieces; ++p) {
    knots_[p].value += amount / h * bump[p].value;
    knots_[p].derivative += amount / (h * h) * bump[p].derivative;
  }
}

Polynomial InputSpline::piece(int p, double h) const {
  return from_guess(Hold::hermite, knots_[p], knots_[p + 1], h / pieces, true);
}

double InputSpline::integral(double h) const {
  double sum = 0.0;
  for (int p = 0; p < pieces; ++p) {
    sum += hermite_integral(knots_[p], knots_[p + 1], h / pieces);
  }
  return sum;
}

double integral(const Polynomial& polynomial, double h) {
  const auto& c = polynomial.c;
  return h * (c[0] + h * (c[1] / 2.0 +
                          h * (c[2] / 3.0 + h * (c[3] / 4.0 + h * (c[4] / 5.0 + h * c[5] / 6.0)))));
}

double hermite_integral(Sample begin, Sample end, double h) {
  return h * (begin.value + end.value) / 2.0 + h * h * (begin.derivative - end.derivative) / 12.0;
}

}  // namespace concord

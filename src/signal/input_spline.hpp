#pragma once

#include <array>

#include "concord/polynomial.hpp"

namespace concord {

/// An input on a macro-step [0,h] that one cubic cannot be: values and slopes at the ends of four
/// pieces of equal size, with a cubic on each. C1, and any cubic is one of them.
class InputSpline {
 public:
  static constexpr int pieces = 4;

  InputSpline() = default;

  /// The cubic itself.
  InputSpline(const Polynomial& cubic, double h);

  /// From `old`, which has run for `old_h` before this macro-step, to `cubic`: (1 - s) old + s
  /// cubic, where s rises from 0 to 1 with zero slope and curvature at both ends. Where both are
  /// constants it is C2 (smooth switching: Kossel 2012, Moshagen section 2.2.5). Their s is the
  /// polynomial of degree 5; on cubics it is the spline with the same values, slopes and curvatures
  /// at both ends, nowhere more than 0.021 from theirs.
  InputSpline(const Polynomial& old, double old_h, const Polynomial& cubic, double h);

  /// Adds amount times a bump of integral 1, the cubic B-spline, which vanishes at both ends with
  /// slope and curvature (balance correction: Moshagen, eq. (79)).
  void add_bump(double amount, double h);

  /// Of tau from the beginning of piece p.
  Polynomial piece(int p, double h) const;

  /// Over the macro-step.
  double integral(double h) const;

 private:
  std::array<Sample, pieces + 1> knots_{};
};

/// Over [0,h].
double integral(const Polynomial& polynomial, double h);

/// Of the cubic with these values and slopes at both ends, over [0,h].
double hermite_integral(Sample begin, Sample end, double h);

}  // namespace concord

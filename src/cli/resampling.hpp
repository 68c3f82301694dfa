#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace concord {

/// Values of a signal given at the times of one grid, at times of another that lie within the
/// first. Where two times agree to rounding the value itself is taken, else cubic Hermite
/// interpolation where derivatives are known, else Lagrange interpolation of up to degree 7 on the
/// nearest points.
class Resampling {
 public:
  /// `from` increases strictly and is not empty. Only those of `to` that lie in its interval count;
  /// rows() says which.
  Resampling(std::span<const double> from, std::span<const double> to);

  /// Indices into `to`, ascending.
  const std::vector<std::size_t>& rows() const { return rows_; }

  /// Values at to[rows()[i]]; `derivatives` may be empty.
  std::vector<double> operator()(std::span<const double> values,
                                 std::span<const double> derivatives) const;

 private:
  static constexpr std::size_t most_points = 8;
  struct Stencil {
    std::size_t first = 0;  // first of `points` neighbours
    std::size_t points = 1;
    std::size_t interval = 0;
    double fraction = 0.0;  // of the interval
    std::array<double, most_points> weights{1.0};
  };

  Stencil make_stencil(double time) const;
  double lagrange(const Stencil& stencil, std::span<const double> values) const;
  double hermite(const Stencil& stencil, std::span<const double> values,
                 std::span<const double> derivatives) const;

  std::vector<double> from_;
  double rounding_;
  std::vector<std::size_t> rows_;
  std::vector<Stencil> stencils_;
};

}  // namespace concord

#pragma once

#include <limits>
#include <optional>
#include <string>

#include "coupling/points/loop_equations.hpp"
#include "coupling/points/loop_factors.hpp"
#include "support/petsc.hpp"

namespace concord {

/// What the solvers of a loop's values and slopes go by.
struct LoopLimits {
  /// Rest of a row beside its terms that is their rounding.
  static constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  /// Newton's correction, relative to the unknown, whose square is nothing but rounding.
  static constexpr double last_correction = 1e-8;
  /// Contraction from which a kept Jacobian is renewed.
  static constexpr double poor_contraction = 0.1;
  /// What of a variable's size still counts where its value is near 0.
  static constexpr double near_zero = 1e-6;
};

/// One algebraic loop at one point in time, as Newton's method sees it: f(z) = 0 with the unknowns
/// z = u / column scale and f = (u - P g(u)) / row scale, its Jacobian (I - P D, scaled) and the
/// factors of it. Scales are the sizes of the variables. Closed by s < 1 only, the rows are those
/// of u = (1 - s) u_0 + s P g(u).
class LoopSystem {
 public:
  LoopSystem(RankNetwork& subsystems, const FeedthroughComponent& loop);

  LoopEquations& equations() { return equations_; }
  const LoopEquations& equations() const { return equations_; }

  /// Where rows are evaluated from here on: all of them, closed.
  void enter(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
             std::span<Sample> outputs);
  double time() const { return place_.point->time(); }

  /// The unknowns, unscaled.
  std::vector<Sample>& u() { return u_; }
  const std::vector<Sample>& u() const { return u_; }
  /// As `evaluate` has left them, unscaled.
  const std::vector<Sample>& rows() const { return rows_; }
  double column_scale(std::size_t row) const { return column_scale_[row]; }
  double row_scale(std::size_t row) const { return row_scale_[row]; }
  /// Before the first attempt at this loop there are none.
  bool has_scales() const { return !row_scale_.empty(); }

  /// Rows at u. False, on every rank that takes part, where an output cannot be evaluated.
  bool evaluate();

  /// Scales and a Jacobian at u; why not, or nothing.
  std::optional<std::string> begin_afresh();

  /// At u: the Jacobian of f by z and its factors. False where it cannot be had, or is singular.
  bool linearize();
  Mat jacobian() const { return jacobian_; }
  const LoopFactors& factors() const { return factors_; }
  /// Whether the last `linearize` since `forgive` has found it so.
  bool singular() const { return singular_; }
  void forgive() { singular_ = false; }

  /// Whether each row's value is `allowed` of its terms; near 0 a part of its size is a term.
  bool at_rounding(double allowed) const;

  /// Sum of the sizes of what a row adds up; a constraint adds up what has rounding of its own.
  double terms(std::size_t row, double Sample::*part) const;

  /// Scales and the Jacobian as it was linearised last; and the same again.
  std::vector<double> linearized() const;
  void take_linearized(std::span<const double> numbers);

  /// The rows at hand are those of s = 0 at u_0 = u, the solution there.
  void open();
  /// By s, after `open`; s = 1 is the loop itself.
  void close_by(double s) { opening_.closed = s; }

 private:
  struct Place {
    PointEvaluation* point = nullptr;
    std::span<Sample> inputs, outputs;
    Wanted wanted = Wanted::values;
  };
  struct Opening {
    double closed = 1.0;  ///< s
    std::vector<Sample> u, rows;
  };

  void choose_scales();
  void take_sizes_from_terms();
  double size_from_others(std::size_t row) const;
  void close_partly();
  void scale_rows();
  void factor();

  LoopEquations equations_;
  Place place_;
  std::vector<Sample> u_, rows_;
  std::vector<double> column_scale_, row_scale_;
  std::vector<double> values_;  ///< d rows/d u
  MatHandle jacobian_;          ///< df/dz
  LoopFactors factors_;
  bool singular_ = false;
  Opening opening_;
};

}  // namespace concord

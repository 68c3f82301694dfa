#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// A point in time as a sum of macro-step sizes since the start, s: no rounding of times far from 0
/// is in it. Kahan (1965).
struct Elapsed {
  using AllDoubles = void;  ///< for archives
  double sum = 0.0;
  double rest = 0.0;  ///< what `sum` has too much

  Elapsed after(double h) const {
    const double added = h - rest;
    const double next = sum + added;
    return {next, (next - sum) - added};
  }
};

/// What a signal was: its polynomials over macro-steps, and a constant before the start.
///
/// Where a piece follows an event it need not continue the one before it: the signal breaks where
/// value, slope or curvature jump there by much more than they do between other pieces, where the
/// hold makes them. As long as there are no others, every jump of value and slope counts.
class SignalPast {
 public:
  /// Forgets all; until the first piece the signal was `value`.
  void start(double value);

  /// The macro-step [begin, begin + h]; takes the place of all that began there or later. `fresh`:
  /// it follows an event, the start being one.
  void append(double begin, double h, const Polynomial& polynomial, bool fresh);

  /// Something has happened at the end of the last piece. Where that is hardly any time and far
  /// steeper than the signal was, it is what became of a jump that nobody has told of, and the
  /// signal breaks at its end.
  void end_by_event();

  /// What ended before this point may go.
  void forget(double begin);

  /// At a point up to the end of the last piece; points within `rounding` of a break count as its
  /// instant. Right limits at breaks up to `arrived`, which is hardly more than the point; else
  /// left ones.
  Sample at(double point, double arrived, double rounding) const;

  /// Whether a piece that follows an event now would break by this value.
  bool jumps_to(double value) const;

  /// The first break behind this point.
  std::optional<double> next_break(double point) const;

  std::size_t pieces() const { return pieces_.size() - first_; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, before_, pieces_, first_); }

 private:
  /// Of value, slope and curvature.
  using Jumps = std::array<double, 3>;

  struct Piece {
    double begin, h;
    double longest;  ///< of the macro-steps up to now, older ones less and less
    Polynomial polynomial;
    bool breaks;   ///< at its beginning
    Jumps joints;  ///< at the last beginning that followed no event; infinite: not known
    double size;   ///< largest magnitude up to its end
  };

  /// Sizes of macro-steps around a beginning.
  struct Spans {
    double shorter, longest;
  };

  std::size_t piece_at(double point) const;
  Spans spans_with(double h) const;
  Jumps jumps_before(const Jumps& next) const;
  static bool stands_out(std::span<const double> jumps, const Jumps& joints, const Spans& spans,
                         double size);

  double before_ = 0.0;
  std::vector<Piece> pieces_;
  std::size_t first_ = 0;  ///< those before it are forgotten
};

}  // namespace concord

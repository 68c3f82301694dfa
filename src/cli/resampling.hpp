#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/signal_breaks.hpp"
#include "concord/api.hpp"

namespace concord {

/// Events of a grid that is interpolated.
struct GridEvents {
  std::vector<std::size_t> rows;  ///< of it, ascending
  /// Rows of the other grid that show what follows one of these events, both ascending: (row of the
  /// other, position in `rows`). The same event may be found a little earlier or later there, so
  /// that the other's rows up to it belong to what was before, wherever their times are.
  std::vector<std::pair<std::size_t, std::size_t>> partners;
};

/// A signal at rows: its values, their left limits at events, NaN where they are not known, and
/// slopes of both: empty, or NaN where they are not known.
struct SignalRows {
  std::vector<double> values, left, slopes, left_slopes;
};

/// Values of a signal given at the times of one grid, at times of another that lie within the
/// first. Where two times agree to rounding the value itself is taken, else interpolation of up to
/// degree 7: where slopes are known Hermite's, on four rows, else Lagrange's, on the nearest rows,
/// none of them beyond an event or a break that the signal itself shows, nor so close to another
/// that their difference is more noise than slope.
class CONCORD_API Resampling {
 public:
  /// `from` increases strictly and is not empty. Only those of `to` that lie in its interval count;
  /// rows() says which, but for those between two events that are one there.
  Resampling(std::span<const double> from, std::span<const double> to,
             const GridEvents& events = {});

  /// Indices into `to`, ascending.
  const std::vector<std::size_t>& rows() const { return rows_; }

  /// Values at to[rows()[i]].
  std::vector<double> operator()(const SignalRows& signal) const;

 private:
  static constexpr std::size_t most_points = 8;
  struct Stencil {
    std::array<std::size_t, most_points> rows{};  // the first `points`, ascending
    std::size_t points = 1;
    std::size_t interval = 0;
    double time = 0.0;
    std::array<double, most_points> weights{1.0};
  };

  /// Rows of one smooth piece of a signal; `outside`: the interval is beyond them, next to a jump.
  struct Piece {
    std::size_t first, last;
    bool outside = false;
    bool whole(const Stencil& s) const {
      return !outside && s.rows[0] >= first && s.rows[s.points - 1] <= last;
    }
  };

  /// Events of this grid that a row of the other has behind and before it.
  struct Between {
    std::optional<std::size_t> last, next;
  };

  Stencil between(double time, const Between& events) const;
  Stencil at_row(std::size_t row) const;
  Stencil make_stencil(double time) const;
  Stencil stencil_behind(double time, std::size_t event) const;
  Stencil stencil_before(double time, std::size_t event) const;
  bool is_apart(const Stencil& stencil, std::size_t row) const;
  std::size_t add_rows(Stencil& stencil, std::size_t nearest, std::size_t farthest,
                       std::size_t most) const;
  void centre(Stencil& stencil, const Piece& piece, std::size_t most = most_points) const;
  Piece piece_of(std::size_t interval, std::span<const SignalBreak> breaks,
                 std::span<const double> values) const;
  double lagrange(const Stencil& stencil, std::span<const double> values) const;
  bool is_slope(std::size_t row, const Piece& piece, std::span<const double> slopes) const;
  std::optional<double> osculating(const Stencil& without, const Piece& piece,
                                   std::span<const double> values, std::span<const double> slopes,
                                   double range) const;

  std::vector<double> from_;  ///< rows at events twice
  double rounding_;
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> event_rows_;  ///< as they were given
  std::vector<std::size_t> events_;      ///< the first of an event's two rows of `from_`
  std::vector<Stencil> stencils_;
};

}  // namespace concord

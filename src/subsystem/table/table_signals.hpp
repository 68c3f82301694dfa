#pragma once

#include <span>
#include <vector>

#include "concord/polynomial.hpp"
#include "expression/interpolation.hpp"

namespace concord {

/// Beyond the first or the last row: their value, their line, the rows again, or nothing.
enum class Beyond { hold, linear, repeat, error };

/// Signals through rows of values at times that don't fall. The same time twice is a jump. At a row
/// they are what follows it.
class TableSignals {
 public:
  /// At least one row, as many values per column as times; with cubic or repeat two rows at
  /// different times; with cubic no time twice. Everything is `shift` later.
  TableSignals(std::vector<double> times, const std::vector<std::vector<double>>& columns,
               Interpolation interpolation, Beyond before, Beyond after, double shift = 0.0);

  /// A signal as a polynomial of the time since t, right behind it. Not a number beyond rows where
  /// nothing is.
  Polynomial around(std::size_t signal, double t) const;

  /// Its value and slope.
  Sample at(std::size_t signal, double t) const;

  /// Times after `from` and up to `to`, ascending, at which some signal jumps or has a kink.
  std::vector<double> events(double from, double to) const;

  /// About how many there are between two times: of rows that repeat, as many as the time is long.
  double count_of_events(double from, double to) const;

  double first() const { return times_.front(); }
  double last() const { return times_.back(); }
  Interpolation interpolation() const { return interpolation_; }
  Beyond before() const { return before_; }
  Beyond after() const { return after_; }

  /// Of the rows, ascending.
  std::span<const double> times() const { return times_; }
  /// Inner rows at which some signal jumps or has a kink.
  std::span<const std::size_t> kinks() const { return kinks_; }
  /// Whether there is one at the first or the last row, where rows are not repeated beyond it.
  bool kink_at_first() const { return kink_at_first_; }
  bool kink_at_last() const { return kink_at_last_; }
  /// Whether the last row's value is no end of what leads there: of steps, and behind a jump.
  bool ends_in_jump() const;
  /// A signal from a row to the next one, as a polynomial of the time since the row; the last row's
  /// is its value.
  const Polynomial& piece(std::size_t signal, std::size_t row) const {
    return pieces_[signal][row];
  }

 private:
  Polynomial on_piece(std::size_t signal, std::size_t row, double t) const;
  Polynomial beyond(std::size_t signal, Beyond rule, double t, bool after) const;
  Polynomial at_last_row(std::size_t signal) const;
  double start_of(double round) const;
  double time_of(std::size_t row, double round) const;  ///< where rows are repeated
  Polynomial repeated(std::size_t signal, double t) const;
  bool differ(std::size_t signal, const Polynomial& left, const Polynomial& right) const;
  void find_kinks();
  bool kink_at(std::size_t row) const;
  bool kink_at_end(Beyond rule, bool after) const;

  std::vector<double> times_;  ///< shifted once: events are at these, and lookups compare with them
  std::vector<std::vector<Polynomial>>
      pieces_;                      ///< per signal and row; the last row's is its value
  std::vector<Sample> sizes_;       ///< largest values and slopes at rows
  std::vector<std::size_t> kinks_;  ///< inner rows
  bool kink_at_first_ = false, kink_at_last_ = false;
  Interpolation interpolation_;
  Beyond before_, after_;
};

}  // namespace concord

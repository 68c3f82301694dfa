#include "cli/signal_breaks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace concord {
namespace {

/// Sides that differ by more than this many times what they know of themselves are two curves.
constexpr double doubt = 10.0;

/// What integrators and rounding leave of a signal, of its magnitude.
constexpr double noise = 1e-9;

constexpr std::size_t most_points = 4;

/// A value and how far polynomials of one degree less are from it, or more where this one misses
/// slopes that are known: by few rows of a curve the last term alone is nothing by chance.
struct Guess {
  double value = 0.0;
  double uncertainty = std::numeric_limits<double>::infinity();
};

/// A signal's rows from one side of a place, nearest first.
class Side {
 public:
  /// `slopes` may be empty. That of the nearest row may be one of the other side.
  Side(std::span<const double> time, std::span<const double> values, std::span<const double> slopes,
       std::size_t nearest, int step, std::size_t count)
      : count_(count) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t row = step > 0 ? nearest + j : nearest - j;
      t_[j] = time[row];
      newton_[j] = values[row];
    }
    for (std::size_t k = 1; k < count; ++k)
      for (std::size_t j = count - 1; j >= k; --j)
        newton_[j] = (newton_[j] - newton_[j - 1]) / (t_[j] - t_[j - k]);
    for (std::size_t j = 1; j < count && !slopes.empty(); ++j) {
      const double slope = slopes[step > 0 ? nearest + j : nearest - j];
      if (std::isfinite(slope)) missed_ = std::max(missed_, std::abs(slope_at(t_[j]) - slope));
    }
  }

  /// Newton's form; the last term is what the degree below leaves out.
  Guess value_at(double t) const {
    Guess guess{newton_[0]};
    double product = 1.0;
    for (std::size_t k = 1; k < count_; ++k) {
      product *= t - t_[k - 1];
      guess.uncertainty = std::abs(newton_[k] * product);
      guess.value += newton_[k] * product;
    }
    guess.uncertainty = std::max(guess.uncertainty, missed_ * std::abs(t - t_[0]));
    return guess;
  }

  /// At the nearest row.
  Guess slope() const {
    Guess guess{0.0};
    double product = 1.0;
    for (std::size_t k = 1; k < count_; ++k) {
      product *= k == 1 ? 1.0 : t_[0] - t_[k - 1];
      guess.uncertainty = std::abs(newton_[k] * product);
      guess.value += newton_[k] * product;
    }
    guess.uncertainty = std::max(guess.uncertainty, missed_);
    return guess;
  }

 private:
  double slope_at(double t) const {
    double value = newton_[count_ - 1], slope = 0.0;
    for (std::size_t k = count_ - 1; k-- > 0;) {
      slope = value + slope * (t - t_[k]);
      value = newton_[k] + value * (t - t_[k]);
    }
    return slope;
  }

  std::size_t count_;
  double missed_ = 0.0;  ///< the most that it misses of slopes on its side
  std::array<double, most_points> t_{}, newton_{};
};

class BreakSearch {
 public:
  BreakSearch(std::span<const double> time, std::span<const double> values,
              std::span<const double> slopes, std::span<const std::size_t> events)
      : time_(time), values_(values), slopes_(slopes), events_(events) {
    for (const double v : values)
      magnitude_ = std::isfinite(v) ? std::max(magnitude_, std::abs(v)) : magnitude_;
  }

  std::vector<SignalBreak> all() const {
    std::vector<SignalBreak> breaks;
    for (std::size_t row = 1; row + 1 < time_.size(); ++row) {
      if (std::binary_search(events_.begin(), events_.end(), row)) {
        breaks.push_back({row, true});
        ++row;
        if (values_[row] == values_[row - 1] && jumps_after_event(row))
          breaks.push_back({row, true});
        continue;
      }
      const bool jump = jumps(row);
      if (jump || bends(row)) breaks.push_back({row, jump});
    }
    return breaks;
  }

 private:
  Side before(std::size_t row) const { return {time_, values_, slopes_, row, -1, most_points}; }
  Side behind(std::size_t row) const { return {time_, values_, slopes_, row, 1, most_points}; }
  bool surrounded(std::size_t row, std::size_t next) const {
    return row + 1 >= most_points && next + most_points <= time_.size();
  }

  bool differs(const Guess& guess, double value, double least) const {
    return std::abs(guess.value - value) > doubt * guess.uncertainty + least;
  }

  bool jumps(std::size_t row) const {
    const double least = noise * magnitude_;
    return surrounded(row, row + 1) &&
           differs(before(row).value_at(time_[row + 1]), values_[row + 1], least) &&
           differs(behind(row + 1).value_at(time_[row]), values_[row], least);
  }

  /// With the rows up to the next event.
  bool jumps_after_event(std::size_t row) const {
    const auto next = std::upper_bound(events_.begin(), events_.end(), row);
    const std::size_t last = next == events_.end() ? time_.size() - 1 : *next;
    if (row >= last) return false;
    const Side side(time_, values_, slopes_, row + 1, 1, std::min(most_points, last - row));
    return differs(side.value_at(time_[row]), values_[row], noise * magnitude_);
  }

  bool bends(std::size_t row) const {
    if (!surrounded(row, row)) return false;
    const Guess left = before(row).slope(), right = behind(row).slope();
    const double h = std::min(time_[row] - time_[row - 1], time_[row + 1] - time_[row]);
    return differs({left.value, left.uncertainty + right.uncertainty}, right.value,
                   noise * magnitude_ / h);
  }

  std::span<const double> time_, values_, slopes_;
  std::span<const std::size_t> events_;
  double magnitude_ = 0.0;
};

}  // namespace

std::vector<SignalBreak> find_breaks(std::span<const double> time, std::span<const double> values,
                                     std::span<const double> slopes,
                                     std::span<const std::size_t> events) {
  return BreakSearch(time, values, slopes, events).all();
}

}  // namespace concord

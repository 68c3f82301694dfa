#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Derivatives of some functions by one variable whose size nobody knows, as quotients of
/// differences with increments of many sizes.
///
/// A function's derivative is the quotient with which it first answers as it did with the
/// thousandth part of the increment: there its rounding no longer counts, and its curvature doesn't
/// yet. Each function has an increment of its own: what is small beside one may be large beside
/// another.
class AnsweringIncrements {
 public:
  /// At `value` of the variable. `quotients(increment, result)` fills one quotient per function,
  /// and returns false where they cannot be had; `share` is the change of a quotient that counts as
  /// none. False where there are none at all. Increments found once serve again, until a function
  /// that they are not for answers.
  template <class Quotients>
  bool differentiate(double value, double share, Quotients&& quotients, std::span<double> result) {
    return (known_ && again(quotients, result)) || search(value, share, quotients, result);
  }

  /// What has been found.
  void io(Archive& archive) { CONCORD_MEMBERS(archive, known_, increments_, chosen_); }

 private:
  static constexpr int least_power = -30, between = 3, digits = 16;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static double increment(int power) { return 6.0 * std::pow(10.0, power); }

  template <class Quotients>
  bool again(Quotients&& quotients, std::span<double> result) {
    std::fill(result.begin(), result.end(), 0.0);
    now_.resize(result.size());
    for (std::size_t k = 0; k < increments_.size(); ++k) {
      if (!quotients(increments_[k], now_)) return false;
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (chosen_[i] == none && now_[i] != 0.0) return false;
        if (chosen_[i] == k) result[i] = now_[i];
      }
    }
    return true;
  }

  /// Where a function answers nowhere twice, the smallest quotient counts: below, they are
  /// rounding, above, curvature.
  template <class Quotients>
  bool search(double value, double share, Quotients&& quotients, std::span<double> result) {
    begin(result.size());
    bool any = false;
    const int of_value = value != 0.0 ? static_cast<int>(std::log10(std::abs(value))) : least_power;
    const int first = std::max(least_power, of_value - digits), last = std::max(0, of_value);
    for (int power = first; power <= last; power += between) {
      if (!quotients(increment(power), now_)) {
        if (any) break;
        continue;
      }
      any = true;
      take(increment(power), share, result);
    }
    forget_unused();
    known_ = any;
    return any;
  }

  void begin(std::size_t functions);
  void take(double increment, double share, std::span<double> result);
  void forget_unused();

  bool known_ = false;
  std::vector<double> increments_;   ///< that functions have chosen; one at least
  std::vector<std::size_t> chosen_;  ///< per function; none: it has never answered
  std::vector<double> change_;       ///< of its quotient from the one before, relative
  std::vector<double> now_, before_;
};

}  // namespace concord

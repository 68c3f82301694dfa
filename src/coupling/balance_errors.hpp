#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Balance errors of inputs, the integral of (true - given) over time, in the input's unit times s,
/// and what of them is recontributed when (Scharff et al. 2012; Moshagen, section 4).
///
/// What a hold misses on a macro-step is given back in equal shares on the next `spread` ones.
/// Shares count as given: they are no error of their own, so that what has accumulated is what is
/// still to be given back, and stays bounded. A macro-step shorter than the one before gives back
/// less, so that no correction grows beyond the error that it makes good; the rest waits.
class BalanceErrors {
 public:
  /// Spread 0 gives nothing back. Sizes are those of the rank's inputs.
  BalanceErrors(std::size_t inputs, int spread);

  /// The macro-step begins; `last_step` is the size of the one before, 0 at a start.
  void begin(double h, double last_step);

  /// To be given on this macro-step on top of the hold: an integral.
  double due(std::size_t input) const { return due_[input]; }

  /// The macro-step ends with these integrals, without what was due.
  void measure(std::size_t input, double true_integral, double hold_integral);

  /// The macro-step is accepted.
  void commit();

  /// Something jumped (event): what is still to be given back belongs to the past.
  void forget();

  /// Since the start of the experiment, per input of the rank.
  std::span<const double> accumulated() const { return accumulated_; }

  /// The largest |accumulated| so far.
  std::span<const double> largest() const { return largest_; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, oldest_, share_);
    for (auto& missed : missed_) {
      CONCORD_MEMBERS_PER(archive, Per::input, missed);
    }
    CONCORD_MEMBERS_PER(archive, Per::input, due_, measured_, accumulated_, largest_);
  }

 private:
  int spread_;
  std::vector<std::vector<double>> missed_;  ///< on the last `spread` macro-steps, in turn
  std::size_t oldest_ = 0;
  double share_ = 0.0;
  std::vector<double> due_, measured_, accumulated_, largest_;
};

}  // namespace concord

#pragma once

#include <cstddef>

#include "concord/archive.hpp"

namespace concord {

/// How many macro-steps there are from one estimate of the run's error to the next: one to 64, to
/// 16 where macro-steps are chosen by the error that has been estimated, which must not wait for
/// it; the fewer the more the signals change; once as many as a short run has are over, 16 at
/// least, so that estimates cost a few percent of the time.
class EstimateInterval {
 public:
  /// Of a network where errors are followed over each macro-step of a run that chooses them by its
  /// error, and over no more than one in which signals change much.
  static constexpr std::size_t few_inputs = 64;

  /// `inputs`: connected ones of the whole network; small networks, whose runs take no time, have
  /// more intervals that are free. `always_free`: macro-steps are as long as their error lets them
  /// be, so that intervals are few. `follows`: small networks' errors over each of them; `each`:
  /// all networks', in any run.
  EstimateInterval(std::size_t inputs, bool always_free, bool follows, bool each);

  /// One more macro-step, of size h; whether the interval is over.
  bool add(double h);
  /// Whether one that is not over ends where signals have changed much: in small networks.
  bool ends_at_change() const { return small_ && is_free(); }
  static constexpr double much_change = 0.35;  ///< of a signal, by shares of its size
  bool empty() const { return macro_steps_ == 0; }
  /// Time since it began, s.
  double span() const { return span_; }

  /// The next one begins; `variation`: how much the signals have changed in this one, by shares of
  /// their sizes.
  void next(double variation);

  /// After an event the first one is one macro-step.
  void shorten() { length_ = 1; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, span_, macro_steps_, length_, free_); }

 private:
  bool is_free() const { return free_ > 0 || always_free_; }

  bool small_, always_free_;
  int longest_;  ///< macro-steps
  double span_ = 0.0;
  int macro_steps_ = 0;
  int length_ = 1;
  int free_;  ///< intervals of any length that are left
};

}  // namespace concord

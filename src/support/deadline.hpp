#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace concord {

/// By when the iteration of a macro-step is to end where a run goes by the clock: while one more
/// correction, and what follows on the last one, can be done before the macro-step's end is due.
/// What these take is what they took, the most of it, by a tenth less with each time since then.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// From here on model time t, in s, is due at `began` + (t - begin)/factor, and a macro-step
  /// makes that many corrections at least. What has followed on the last iteration is over.
  void pace(Clock::time_point began, double begin, double factor, int least) {
    if (paced_) learn(rest_);
    paced_ = {began, begin, factor, least};
  }

  /// A macro-step to time `end`, or another attempt at it.
  void begin_step(double end) {
    if (!paced_) return;
    due_ = paced_->began + seconds((end - paced_->begin) / paced_->factor);
    last_ = Clock::now();
  }

  /// One more correction has been made, or the guess, which takes about as long.
  void corrected() {
    if (paced_) learn(correction_);
  }

  /// By this rank's clock: whether no time is left for one more.
  bool is_near() {
    if (!paced_) return false;
    last_ = Clock::now();
    return due_ - last_ < correction_ + rest_;
  }

  /// Whether it counts after that many corrections.
  bool counts_after(int corrections) const { return paced_ && corrections >= paced_->least; }

 private:
  struct Pace {
    Clock::time_point began;
    double begin, factor;
    int least;
  };

  static Clock::duration seconds(double value) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
  }
  void learn(Clock::duration& usual) {
    constexpr double forgets = 0.9;
    const auto kept = std::chrono::duration_cast<Clock::duration>(forgets * usual);
    usual = std::max(Clock::now() - last_, kept);
  }

  std::optional<Pace> paced_;
  Clock::time_point due_{}, last_{};
  Clock::duration correction_{}, rest_{};
};

}  // namespace concord

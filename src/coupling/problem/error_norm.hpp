#pragma once

#include <mpi.h>

#include <cmath>
#include <vector>

#include "signal/sizes.hpp"

namespace concord {

/// Tolerances that the step control stands on, those of coupling and subsystems, beside its own,
/// unless they are given.
inline constexpr double inner_fraction = 0.01;

/// Error of a macro-step in units of the tolerance: that of the worst signal, however many others
/// are idle,
///
///     err = max_i |EST_i| / (RTOL |y_i| + ATOL_i),   |y_i|: the signal's size.
///
/// A signal that begins at exactly 0, at a start or an event, rises like t^n at first: if n is
/// above the order of EST, only macro-steps much shorter than t give it its relative tolerance, and
/// what is missed then is nothing beside what it becomes. While that is so, its size is that to
/// which t^n/n! will have risen when the time is over of which the macro-step h is the usual share;
/// it has to be roughly right. n is at most the number of integrations on the way: what rises
/// faster grows by itself, like the tail of a gust. The size of a signal that wakes up later is the
/// largest that a trial from the same communication point has shown.
class ErrorNorm {
 public:
  /// EST = O(h^{order + 1}). `integrations`: one behind the other, at most.
  ErrorNorm(MPI_Comm comm, const Tolerance& tolerance, int order, std::size_t integrations,
            std::size_t count);

  /// EST is of another order from the next trial on.
  void set_order(int order);

  /// A start, or an event: which signals have been 0 so far, slopes too where they are known.
  void restart();
  void begins_at_zero(std::size_t i) { signals_[i].rises = true; }

  /// Whether a signal that rises goes on after the trial, or has been larger within it.
  enum class Rise { goes_on, is_over };

  /// A trial: the same for all of this rank's signals, then the largest of all ranks. `magnitude`
  /// at the trial's end; `size` so far; errors up to `noise` are none.
  void begin(double h);
  void add(std::size_t i, double estimate, double magnitude, double size_so_far, double noise = 0.0,
           Rise rise = Rise::goes_on);
  double worst() const;  ///< collective

  /// An err for which it is worth finding out what is noise; and that, of a sum of such terms, from
  /// subsystems that are integrated to a hundredth of the tolerance.
  static constexpr double doubtful = 0.5;
  double noise(double terms) const;
  /// What a sum of large terms that cancel is wrong by in any case.
  static double rounding(double terms) { return 1e-13 * std::abs(terms); }

  /// The last trial was accepted.
  void commit();

  /// `kind`: what its signals are.
  void io(Archive& archive, Per kind) {
    CONCORD_MEMBERS_PER(archive, kind, signals_);
    CONCORD_MEMBERS(archive, h_, elapsed_);
  }

 private:
  /// One signal.
  struct Signal {
    bool rises = false;     ///< from nothing
    double trial = 0.0;     ///< magnitude at the last trial's end
    double seen = 0.0;      ///< the same, or the estimate where that is larger
    double shown = 0.0;     ///< largest of trials from here
    double begun = 0.0;     ///< largest seen at communication points while it rises
    double last = 0.0;      ///< magnitude at the last communication point
    double exponent = 0.0;  ///< n; 0: unknown
    double least = 0.0;     ///< n so far
  };

  double ahead(double n) const;
  bool wakes(const Signal& signal) const;
  double size(const Signal& signal, double known) const;
  void follow(Signal& signal) const;

  MPI_Comm comm_;
  Tolerance tolerance_;
  double integrations_;
  int order_ = 0;
  double most_ = 0.0;   ///< n
  double share_ = 0.0;  ///< of that time
  std::vector<Signal> signals_;
  double worst_ = 0.0;
  double h_ = 0.0;        ///< of the trial
  double elapsed_ = 0.0;  ///< since the restart
};

}  // namespace concord

#pragma once

#include <array>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"
#include "concord/subsystem.hpp"
#include "subsystem/code_of_others.hpp"

namespace concord {

/// A subsystem that tells of no events, whose slopes at the ends of macro-steps are known, and that
/// nobody but itself knows to be smooth.
inline bool is_black_box(const SubsystemDescription& d) {
  return !d.events && d.capabilities.output_derivatives && is_code_of_others(d);
}

/// Finds jumps of outputs whose subsystems tell of no events (methods 14, 6).
///
/// A signal that is smooth within a macro-step changes by about as much as its slopes say. Where it
/// changes by much more than these and those before would make of it, it has jumped; where its
/// slope at the end is much more than all that, the slope was taken across a jump. What spreads
/// along a chain of subsystems rises like t^n, with any n: rates of change that grow are expected
/// to go on growing as fast, which those of t^n, log-concave, never exceed.
class JumpWatch {
 public:
  /// Which outputs may jump untold. Slopes that may be differences over time are doubtful: a jump
  /// falsifies them; those of equations are exact, of an FMU's but for their part by the time.
  enum class Watch : char { no, exact_slopes, exact_but_by_time, doubtful_slopes };

  /// `watched`: of each output of this rank.
  explicit JumpWatch(std::vector<Watch> watched);

  /// y and y' of these outputs, the first of which is `first`, at the end of a macro-step: a slope
  /// that is not exact and was taken across a jump becomes 0.
  void mend(std::size_t first, double h, std::span<Sample> outputs);

  /// How many of these outputs, the first of which is `first`, have jumped in the macro-step that
  /// was tried last and ends with them. Without slopes a beginning looks like a jump: those whose
  /// slopes would be exact are believed then to have none.
  int count(std::size_t first, double h, std::span<const Sample> outputs, bool slopes_known) const;

  /// The same of a macro-step that is accepted.
  int look(std::size_t first, double h, std::span<const Sample> outputs, bool slopes_known);

  /// Something has happened: nothing of the past counts.
  void begin_anew(std::span<const Sample> outputs);

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::output, signals_); }

 private:
  struct Signal {
    Watch watched = Watch::no;
    bool mended = false;  ///< in the last macro-step that was tried
    int seen = 0;         ///< macro-steps since the last event, up to those that count
    Sample last;
    double largest = 0.0;             ///< |y| so far
    std::array<double, 3> rates{};    ///< of change, of the macro-steps before
    std::array<double, 2> growths{};  ///< d/dt log(rate), from each to the next

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, watched, mended, seen, last, largest, rates, growths);
    }
  };

  static bool is_watched(const Signal& signal, bool slopes_known);
  static bool jumped(const Signal& signal, const Sample& now, double h);
  static bool known(const Signal& signal);
  static double usual_rate(const Signal& signal, double h);
  static void follow(Signal& signal, const Sample& now, double h);
  static bool has_jumped(const Signal& signal, const Sample& now, double h);

  std::vector<Signal> signals_;
};

}  // namespace concord

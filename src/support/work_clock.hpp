#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "support/log_events.hpp"

namespace concord {

/// What a rank does for one of its subsystems; macro-steps of subsystems are timed by themselves.
enum class Work : std::uint8_t { advance, linearize, outputs, rollback, events };
inline constexpr std::size_t n_works = 5;
inline constexpr std::array<const char*, n_works> work_words = {"advance", "linearize", "outputs",
                                                                "rollback", "events"};

/// Where a rank's time goes, in s: by phase, and by subsystem and kind of work.
///
/// Where macro-steps take less than a tenth of a millisecond, only every sixteenth is looked at and
/// counts for all: to read the clock would cost more than what it measures.
class WorkClock {
 public:
  /// ns, of a clock that never goes back.
  using Instant = std::int64_t;
  static Instant now();
  static double seconds_since(Instant begin);

  /// For -cosim_trace; `subsystem` is the rank's own, or `none`.
  struct Interval {
    static constexpr std::uint32_t none = 0xffffffff;
    double begin, end;  ///< s, since 1970
    std::uint32_t subsystem;
    std::uint8_t what;  ///< a Phase or a Work
  };

  explicit WorkClock(std::size_t subsystems) : works_(subsystems) {}

  /// A macro-step begins; the one before took `last` s, 0 if there was none.
  void begin_step(std::int64_t index, double last) {
    constexpr double worth_it = 1e-4;
    constexpr int one_in = 16;
    const bool each = traces_ || last > worth_it || last == 0.0;
    weight_ = each ? 1.0 : index % one_in == 0 ? one_in : 0.0;
    looks_ = weight_ > 0.0;
  }

  bool looks() const { return looks_; }
  void add(Phase phase, Instant begin);
  void add(std::size_t subsystem, Work work, Instant begin) { add({&subsystem, 1}, work, begin); }
  /// Of what was done for all of them at once.
  void add(std::span<const std::size_t> subsystems, Work work, Instant begin);
  /// Of what is no part of macro-steps: always.
  void add_once(Phase phase, Instant begin);

  std::span<const double> phases() const { return phases_; }
  double time(std::size_t subsystem, Work work) const {
    return works_[subsystem][static_cast<std::size_t>(work)];
  }

  /// From here on every macro-step is looked at and all is kept, up to `most` intervals.
  void trace(std::size_t most);
  const std::vector<Interval>& traced() const { return traced_; }
  std::size_t left_out() const { return left_out_; }

  /// What subsystems have cost; phases are those of this process.
  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::subsystem, works_); }

 private:
  using Works = std::array<double, n_works>;

  void keep(Instant begin, Instant end, std::uint32_t subsystem, std::size_t what);

  bool looks_ = false;
  double weight_ = 0.0;  ///< 0: what passes counts for nothing, as before the first macro-step
  std::array<double, n_phases> phases_{};
  std::vector<Works> works_;
  bool traces_ = false;
  std::size_t most_ = 0, left_out_ = 0;
  Instant origin_ = 0;
  double since_1970_ = 0.0;  ///< of the origin, s
  std::vector<Interval> traced_;
};

/// A phase from construction to the end of the scope, for PETSc's -log_view, too.
class PhaseScope {
 public:
  PhaseScope(WorkClock& clock, Phase phase)
      : log_(log_events()[phase]), clock_(clock.looks() ? &clock : nullptr), phase_(phase) {
    if (clock_ != nullptr) begin_ = WorkClock::now();
  }
  ~PhaseScope() {
    if (clock_ != nullptr) clock_->add(phase_, begin_);
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  LogScope log_;
  WorkClock* clock_;
  Phase phase_;
  WorkClock::Instant begin_ = 0;
};

/// The same of work for one subsystem, or for several at once.
class WorkScope {
 public:
  WorkScope(WorkClock& clock, std::size_t subsystem, Work work)
      : clock_(clock.looks() ? &clock : nullptr), subsystem_(subsystem), work_(work) {
    if (clock_ != nullptr) begin_ = WorkClock::now();
  }
  /// The subsystems outlive it.
  WorkScope(WorkClock& clock, std::span<const std::size_t> subsystems, Work work)
      : WorkScope(clock, subsystems.front(), work) {
    several_ = subsystems;
  }
  ~WorkScope() {
    if (clock_ != nullptr)
      clock_->add(several_.empty() ? std::span(&subsystem_, 1) : several_, work_, begin_);
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  WorkClock* clock_;
  const std::size_t subsystem_;
  std::span<const std::size_t> several_;
  Work work_;
  WorkClock::Instant begin_ = 0;
};

}  // namespace concord

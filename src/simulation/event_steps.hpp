#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "coupling/points/start.hpp"
#include "simulation/network_events.hpp"

namespace concord {

/// Steers macro-steps to the instants at which something happens, which end them, and lets it
/// happen there (methods 14). Everything here is the same on every rank.
class EventSteps {
 public:
  /// `rolls_back`: everybody does. `limit`: instants in a row after hardly any time, and passes at
  /// one, that are not believed any more.
  EventSteps(RankNetwork& subsystems, Coupling& coupling, bool rolls_back, std::int64_t limit)
      : events_(subsystems, coupling),
        subsystems_(subsystems),
        share_of_instant_(share_of_instant(subsystems)),
        rolls_back_(rolls_back),
        limit_(limit) {}

  bool any() const { return events_.any(); }

  /// After the start; `rolls_back`, if there are events: everybody does. Collective.
  void look_for_more() { events_.look_for_more(); }
  void roll_back(bool rolls_back) { rolls_back_ = rolls_back; }

  /// How many were found too late, as somebody cannot roll back.
  std::int64_t late() const { return now_.late; }

  /// A macro-step is proposed, before its first trial.
  void propose(const MacroStep& step);

  /// A subsystem knows of another time than before. Collective.
  void look_ahead() { now_.next_time = events_.next_time(); }

  /// The next time at which something happens whatever else is, s; infinity: none is known.
  double next_time() const { return now_.next_time; }

  /// After a trial, whose P y on this rank is `fed` (empty unless it converged): whether it is to
  /// be repeated with its end at `aim`, as something happens there. Collective.
  bool repeats(const MacroStep& step, bool converged, std::span<const Sample> fed);

  double aim() const { return aim_; }

  /// Of a macro-step that is accepted: whether something happens at its end.
  bool arrives(const MacroStep& step) const;

  /// At the start: whether more holds than was known. Collective.
  bool settles(std::span<const Sample> inputs);

  /// "subsystem 'thermostat' (T < 19)": conditions that were true at the start, and so did not
  /// become true there. The first few; empty: none.
  const std::string& idle_at_start() const { return idle_; }

  /// An instant begins, with its left limits: of all inputs and outputs of this rank; of its
  /// states, where the coupling integrates them (else the subsystems have them); of their slopes,
  /// where somebody wants them.
  void begin_instant(const CommunicationPoint& point, std::span<const double> states,
                     std::span<const double> state_slopes = {});
  /// One more pass: whether something happens. Collective. Throws SimulationError.
  bool happens(std::span<const Sample> inputs);
  /// The same, after inputs have been made to fit.
  bool happens_after_fit(std::span<const Sample> inputs);
  /// Nothing more happens. Collective.
  void end_instant();

  /// What happened at the end of the last macro-step, and what was before.
  void tell(StepReport& report) const;
  void clear();

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, events_, rolls_back_, now_, proposed_, slack_, event_, idle_);
  }
  int memory_version() const { return 2; }

 private:
  struct Memory {
    std::int64_t late = 0;
    double next_time = std::numeric_limits<double>::infinity();
    double time = -std::numeric_limits<double>::infinity();  ///< of the last instant
    double interval = 0.0;                                   ///< before it, s
    double ratio = 0.0;                                      ///< of it to the one before
    int alike = 0;              ///< ratios in a row that were the same, below 1
    std::int64_t in_a_row = 0;  ///< instants after hardly any time
    double usual = 0.0;         ///< the largest macro-step that was proposed, s
    bool missed = false;        ///< the macro-step was to end at an event, which was not there
    int in_vain = 0;            ///< macro-steps in a row, up to the last but one, that missed

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, late, next_time, time, interval, ratio, alike, in_a_row, usual,
                      missed, in_vain);
    }
  };

  bool happens(EventPass pass, std::span<const Sample> inputs);
  void watch_intervals(bool foreseen);
  std::string told(std::span<const EventReport> what) const;
  [[noreturn]] void refuse(const std::string& how_many) const;

  NetworkEvents events_;
  RankNetwork& subsystems_;
  double share_of_instant_;
  bool rolls_back_;
  std::int64_t limit_;
  Memory now_;
  MacroStep proposed_;
  double slack_ = 0.0;  ///< s: what would happen so soon happens now
  double event_ = std::numeric_limits<double>::infinity();  ///< of the last trial
  double aim_ = 0.0;
  int aims_ = 0;  ///< at an event in this macro-step
  int passes_ = 0;
  double time_ = 0.0;
  std::vector<EventReport> happened_;
  std::optional<LeftLimits> left_;
  std::string idle_;
};

}  // namespace concord

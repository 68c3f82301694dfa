#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/estimates/disturbance.hpp"
#include "coupling/estimates/divergence.hpp"
#include "coupling/estimates/estimate_interval.hpp"
#include "coupling/estimates/hold_errors.hpp"
#include "coupling/estimates/inside_errors.hpp"
#include "coupling/estimates/settled_signals.hpp"
#include "coupling/estimates/undecided_events.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

/// What a run knows of its own error: what holds and coupling have missed of the inputs
/// (HoldErrors, in every macro-step), and what has become of it in the outputs (ErrorPropagation,
/// in an EstimateInterval).
///
/// Without linearisation of every subsystem there is no estimate, and no verdict.
class ErrorAccount {
 public:
  /// Of each macro-step what lies inside, too, where there may be rows, or what its ends show
  /// alone.
  enum class Sight { inside, rows, ends };

  ErrorAccount(const Method& method, RankNetwork& subsystems, Sight sight);
  ~ErrorAccount();

  /// At the start. Collective.
  void start(const CommunicationPoint& point, double stop);

  /// Something outside has changed: what outputs will do by time alone, too.
  void look_ahead(const CommunicationPoint& point, double stop);
  /// The same after `io` has read.
  void look_ahead_again(const CommunicationPoint& point) { inside_.scan_again(point); }

  /// Whether the macro-step that begins is to be noted (PassedWay), for `look_inside`. The same on
  /// every rank.
  bool looks_inside() const { return propagation_ != nullptr && sees_inside_; }

  /// A trial that has converged, before anything happens at its end: its err for the step control,
  /// where that stands on an estimate; else 0. Collective.
  double look_inside(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
                     const Coupling& coupling);

  /// Of the macro-step that is about to end, or none: by how much outputs are wrong at rows within
  /// beyond what they are at its ends.
  void see_rows(std::span<const double> missed);

  /// The macro-step that ended at `point` was accepted; `last`: it is the run's last one. What the
  /// worst input was given wrongly over a macro-step, on the mean of each, in units of the input's
  /// size, since it was told last; not a number in between. The same on every rank. Collective.
  double observe(const CommunicationPoint& point, Coupling& coupling, bool last);

  /// An event at `point`: before and after the jump. Collective.
  void close(const CommunicationPoint& point);
  void restart(const CommunicationPoint& point);

  /// A black box has jumped somewhere in the last macro-step: nothing is known any more.
  void meet_jump();

  /// Something has happened at the end of the last macro-step that should have within.
  void meet_late_event();

  /// Where nothing was estimated, after the last macro-step: the largest errors of all outputs of
  /// this rank, in their units, are known from elsewhere. Collective.
  void learn(const CommunicationPoint& point, std::span<const double> errors);

  /// Why nothing is estimated, and what would give an estimate; nothing where there is one.
  const std::optional<std::string>& missing() const { return missing_ ? missing_ : uncoupled_; }

  /// Whether the estimate is that of `learn`.
  bool learnt() const { return learnt_; }

  /// Time since the start that was observed.
  double elapsed() const { return elapsed_; }

  /// Of this rank's outputs: the largest estimated error so far in units of the output's size; not
  /// a number without estimate, and for signals that still rise from nothing at the far end of a
  /// chain.
  std::vector<double> relative_errors() const;

  /// The largest of all ranks' outputs' errors so far, in units of their tolerances.
  /// Collective.
  double in_tolerances(const Tolerance& tolerance) const;

  /// The same of settled ones. Collective.
  double settled_in_tolerances(const Tolerance& tolerance) const;

  /// After `observe` has given a number and what it says was looked at: how large signals are by
  /// now.
  void remember_sizes() { settled_.remember(elapsed_); }

  /// Where the estimate has become as large as a signal, first: subsystem, output, time and values.
  /// The same on every rank.
  const std::optional<std::string>& diverged() const { return divergence_.found(); }

  /// What happened, or did not, by less than the error.
  const UndecidedEvents& undecided() const { return undecided_; }

  void io(Archive& archive);
  int memory_version() const { return 5; }

 private:
  void make_propagation();
  void see(const CommunicationPoint& point);
  double size_of(std::size_t output) const;
  template <class SizeOf>
  double largest_in(const Tolerance& tolerance, const SizeOf& size_of) const;
  void add_moments(double h);
  bool has_changed_much() const;
  double largest_share(std::span<const double> of_inputs) const;
  double propagate(const CommunicationPoint& point, CarriesErrors* coupling, bool last);
  void lose(const std::string& reason);

  RankNetwork& subsystems_;
  Sight sight_;
  bool at_nodes_;  ///< nothing is held: all errors are those of states
  ConstraintRows constraints_;
  HoldErrors holds_;
  InsideErrors inside_;
  bool sees_inside_, controls_;
  std::unique_ptr<ErrorPropagation> propagation_;  ///< null where nothing is connected
  std::optional<std::string> missing_;
  std::optional<std::string> uncoupled_;  ///< why there is nothing to estimate
  UndecidedEvents undecided_;
  Disturbance disturbance_;  ///< kept for its storage only
  EstimateInterval interval_;
  bool estimated_ = false;  ///< an interval has ended
  bool learnt_ = false;
  double elapsed_ = 0.0;  ///< since the start

  /// Unknowns of indirect constraints, which don't decide whether a run has diverged: what a start
  /// is off by they mend like an impulse within the first macro-steps, and states follow their
  /// means.
  std::vector<std::size_t> indirect_;
  std::vector<double> largest_;  ///< errors of all outputs
  std::vector<double> rows_;     ///< what `see_rows` has told since the last interval's end
  SignalRanges ranges_;          ///< of outputs
  SettledSignals settled_;
  Divergence divergence_;
};

}  // namespace concord

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coupling/estimates/error_propagation.hpp"
#include "coupling/estimates/hold_errors.hpp"
#include "coupling/estimates/unit_sizes.hpp"

namespace concord {

/// What a run knows of its own error: what holds and coupling have missed of the inputs
/// (HoldErrors, in every macro-step), and what has become of it in the outputs (ErrorPropagation,
/// in intervals of one to 64 macro-steps, the shorter the more the signals change).
///
/// Without linearisation of every subsystem there is no estimate, and no verdict.
class ErrorAccount {
 public:
  ErrorAccount(const Method& method, RankNetwork& subsystems);

  /// At the start. Collective.
  void start(const CommunicationPoint& point);

  /// The macro-step that ended at `point` was accepted; `last`: it is the run's last one. What the
  /// worst input was given wrongly over a macro-step, on the mean of each, in units of the input's
  /// size, since it was told last; not a number in between. The same on every rank. Collective.
  double observe(const CommunicationPoint& point, const Coupling& coupling, bool last);

  /// An event at `point`: before and after the jump. Collective.
  void close(const CommunicationPoint& point);
  void restart(const CommunicationPoint& point);

  /// Why nothing is estimated, and what would give an estimate; nothing where there is one.
  const std::optional<std::string>& missing() const { return missing_; }

  /// Time since the start that was observed.
  double elapsed() const { return elapsed_; }

  /// Of this rank's outputs: the largest estimated error so far in units of the output's size; not
  /// a number without estimate, and for signals that still rise from nothing at the far end of a
  /// chain.
  std::vector<double> relative_errors() const;

  /// The largest of all ranks' settled outputs' errors so far, in units of their tolerances.
  /// Collective.
  double in_tolerances(const Tolerance& tolerance);

  /// After `observe` has given a number and what it says was looked at: how large signals are by
  /// now.
  void remember_sizes();

  /// Where the estimate has become as large as a signal, first: subsystem, output, time and values.
  /// The same on every rank.
  const std::optional<std::string>& diverged() const { return diverged_; }

  void io(Archive& archive);

 private:
  double propagate(const CommunicationPoint& point, bool last);
  void sort_outputs();
  void lose(const std::string& reason);
  void choose_interval(double variation);
  void compare(const CommunicationPoint& point);
  void explain(const CommunicationPoint& point);
  bool settled(std::size_t output) const;
  bool hardly_begun(std::size_t output) const;
  void recall();
  void judge(const CommunicationPoint& point, bool last);
  std::string described(std::size_t output, double error, const CommunicationPoint& point) const;

  RankNetwork& subsystems_;
  bool controlled_;  ///< macro-steps are as long as their error lets them be: intervals are few
  HoldErrors holds_;
  UnitSizes unit_sizes_;
  std::unique_ptr<ErrorPropagation> propagation_;  ///< null where nothing is connected
  std::optional<std::string> missing_, diverged_;
  std::vector<std::size_t> signals_;  ///< outputs that decide whether a run has diverged

  /// Unknowns of indirect constraints, which do not: what a start is off by they mend like an
  /// impulse within the first macro-steps, and states follow their means.
  std::vector<std::size_t> indirect_;
  std::vector<double> largest_;
  ErrorPropagation::Disturbance disturbance_;
  double span_ = 0.0;  ///< since the interval began
  int since_ = 0, interval_ = 1, freely_ = 0;
  bool estimated_ = false;  ///< an interval has ended

  // Per output: whether the run can be right.
  std::vector<double> scale_;  ///< what the signal has been where the estimate was small
  std::vector<int> as_large_;  ///< intervals in a row that ended with an error as large as that
  std::vector<int> astray_;
  std::vector<char> driven_;  ///< rises from nothing, by what sound signals feed it
  std::vector<double> floors_;
  double elapsed_ = 0.0;               ///< since the start
  double half_ = 0.0;                  ///< of the time elapsed, to all of it
  std::vector<double> then_, before_;  ///< sizes at that time, and the one before
};

}  // namespace concord

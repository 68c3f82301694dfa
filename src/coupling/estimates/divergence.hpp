#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/estimates/settled_signals.hpp"
#include "coupling/estimates/unit_sizes.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

class ErrorPropagation;

/// Whether a run has diverged: whether the estimated error of a signal has been as large as the
/// signal for some intervals, unless what is sound feeds it so, it has hardly begun, or it is made
/// of rounding.
class Divergence {
 public:
  /// `signals`: the outputs that decide; `largest`, `ranges`: their errors and
  /// what they have gone through so far.
  Divergence(RankNetwork& subsystems, std::vector<std::size_t> signals,
             const SettledSignals& settled, const std::vector<double>& largest,
             const SignalRanges& ranges);

  void start(const CommunicationPoint& point);

  /// An interval has ended at `point`, `elapsed` s after the start; `last`: with the run.
  /// Collective.
  void judge(const CommunicationPoint& point, double elapsed, ErrorPropagation& propagation,
             bool last);

  /// The run is over, and nothing but the largest errors is known. Collective.
  void judge_whole(const CommunicationPoint& point);

  /// Subsystem, output, time and values of the first; nothing as long as there is none. The same on
  /// every rank.
  const std::optional<std::string>& found() const { return found_; }

  /// Whether its error says nothing of it: a signal that still rises from nothing at the far end of
  /// a chain, or, at the end of a run, one that is nothing but rounding of what cancels.
  bool says_nothing(std::size_t output) const {
    return driven_[output] != 0 || is_rounding(output);
  }
  /// Nobody will see it beside others of its unit, and what it grows to is yet to come.
  bool hardly_begun(std::size_t output) const;
  /// A value of this output, beside others of its unit as `see_units` has last seen them.
  bool is_seen(std::size_t output, double value) const;
  void see_units() { unit_sizes_.update(); }

  std::span<const std::size_t> signals() const { return signals_; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, found_);
    CONCORD_MEMBERS_PER(archive, Per::output, scale_, as_large_, driven_);
  }

 private:
  void compare(const CommunicationPoint& point, std::span<const Sample> errors);
  bool is_rounding(std::size_t output) const;
  void recall();
  template <class ErrorOf>
  void tell(const CommunicationPoint& point, int enough, const ErrorOf& error_of);
  void explain(const CommunicationPoint& point, double elapsed, ErrorPropagation& propagation);
  std::string described(std::size_t output, double error, const CommunicationPoint& point) const;

  RankNetwork& subsystems_;
  std::vector<std::size_t> signals_;
  const SettledSignals& settled_;
  const std::vector<double>& largest_;
  const SignalRanges& ranges_;
  UnitSizes unit_sizes_;
  std::optional<std::string> found_;

  // Per output.
  std::vector<double> scale_;  ///< what the signal has been where the estimate was small
  std::vector<int> as_large_;  ///< intervals in a row that ended with an error as large as that
  std::vector<char> driven_;   ///< rises from nothing, by what sound signals feed it
  std::vector<double> floors_;
};

}  // namespace concord

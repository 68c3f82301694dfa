#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/error_norm.hpp"
#include "coupling/problem/unit_offsets.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

/// What inputs were given inside a macro-step against what fed them there, e(tau) = u(tau) -
/// (P y)(tau) at Lobatto's points, y being what the subsystems have really put out with those
/// inputs (InnerPoints), or at the nodes that the coupling has solved for: what the holds have
/// missed, first macro-steps and narrow signals included, and what the coupling has left.
class InsideErrors {
 public:
  InsideErrors(const Method& method, RankNetwork& subsystems);

  /// Looks ahead from the communication point to the end of the experiment (ScannedOutputs): at the
  /// start, and where something outside has changed. Collective.
  void scan(const CommunicationPoint& point, double stop);
  /// The same again, after `io` has read.
  void scan_again(const CommunicationPoint& point);

  /// A start, or an event.
  void restart(const CommunicationPoint& point);

  /// A trial that has converged and whose way was noted; `layer`: it passes one (Joins).
  /// Collective.
  void look(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
            const Coupling& coupling);
  /// Of the last look: err of the step control, the same on every rank. Collective.
  double in_tolerances(const MacroStep& step, const Trial& trial);

  /// The trial is accepted.
  void commit(const CommunicationPoint& point);
  /// Nobody has looked at the macro-step that comes.
  void forget();

  /// Mean of e over the macro-step that was looked at last, by local input, and of what is left of
  /// a constraint's equation; not a number where it is not known.
  std::span<const double> means() const { return mean_; }

  /// Of the same: the mean of (1/2 - s) e, s the share of the macro-step that has passed.
  std::span<const double> moments() const { return moment_; }

  void io(Archive& archive);

 private:
  void see(const CommunicationPoint& point);
  void find_rows(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
                 const Coupling& coupling);
  void add_scanned(const MacroStep& step);
  void look_along_followers(const MacroStep& step);
  double in_tolerances(double h, const Trial& trial);
  void find_noise();
  void pass_on_delays(std::span<const double> inputs);
  template <class Use>
  void feed(double Sample::*part, const Use& use);

  RankNetwork& subsystems_;
  InnerPoints::Sizes sizes_;
  ConstraintRows constraints_;
  bool judges_;                         ///< the step control stands on it
  ErrorNorm norm_;                      ///< without signals where it does not
  std::optional<SignalRanges> ranges_;  ///< of inputs, where errors are judged by them
  std::vector<std::size_t> unknown_;    ///< outputs that tell nothing inside
  std::vector<std::size_t> watched_;    ///< inputs that something feeds, held ones last
  std::vector<double> mean_, size_;     ///< of e and |e|
  std::vector<double> moment_;          ///< of (1/2 - s) e
  std::vector<double> doubt_;           ///< what e may be wrong by
  std::vector<double> scanned_size_;    ///< of size_, what lies between the points; none: nothing
  std::vector<double> ahead_;           ///< ranges of inputs that depend on time alone; none: none
  std::vector<double> noise_;           ///< errors between the points up to it are none
  InnerPoints::Rows inputs_, outputs_;
  InsideRows rows_;  ///< of the last look
  std::vector<Sample> fed_;
  UnitOffsets offsets_;
  std::vector<Sample> beside_;  ///< of outputs: ScannedOutputs::Beside, as value and derivative
  std::vector<Sample> part_;    ///< scratch
  double from_ = 0.0, until_ = 0.0;     ///< of the last scan
  std::vector<std::size_t> followers_;  ///< own subsystems that are looked at between the points
  std::size_t scanned_ = 0;             ///< outputs of all ranks
};

}  // namespace concord

#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "settings/settings.hpp"

namespace concord {

/// The times at which a user wants rows (-cosim_output_interval, -cosim_output_times), and all
/// variables of this rank at those that lie between communication points.
class GridRows {
 public:
  /// `settings` must outlive it.
  GridRows(const Settings& settings, RankNetwork& subsystems, const Coupling& coupling);

  /// A macro-step begins, at most up to step.end: whether there are rows within.
  bool begin(const MacroStep& step);

  /// It is accepted, with `inputs` at its end, and nothing has happened there yet: the points
  /// inside, in the order of time. Valid until the next call. Throws SimulationError where the
  /// coupling cannot tell. The same times on every rank. Collective.
  std::span<const PassedPoint> follow(const PassedStep& passed, std::span<const Sample> inputs,
                                      Coupling& coupling);

  /// By how much outputs may be wrong at these points beyond what they are at the ends of the
  /// macro-step, where that is known; else empty.
  std::span<const double> missed() const { return missed_; }

 private:
  void find_times(const MacroStep& step);
  void require_room(const MacroStep& step) const;
  void follow_whole(const PassedStep& passed, std::span<const Sample> inputs, Coupling& coupling);

  const OutputGrid& grid_;
  RankNetwork& subsystems_;
  const Coupling& coupling_;
  std::vector<double> times_, states_;
  std::vector<PassedPoint> points_;
  std::span<const double> missed_;
};

}  // namespace concord

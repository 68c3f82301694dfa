#pragma once

#include <optional>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/error_norm.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

/// Error estimate of a macro-step with hermite or quintic inputs that costs no integration
/// (-cosim_adapt predictor):
///
///     EST_i = |u_i - (P y)_i| + h^4 |u_i''''| / 720, or + h^6 |u_i^(6)| / 100800,
///
/// what the inputs miss at t_{N+1} of the outputs really integrated, and the mean of the
/// polynomial's distance from the signal inside the step; that derivative from the change of the
/// polynomial's highest one from one macro-step to the next. In the row of a constraint, where the
/// first term is gamma, sizes are those of the largest output in the equation.
///
/// EST is an error of the inputs over the macro-step, however long: errors per unit time, whose sum
/// over a run is proportional to the tolerance.
class PredictionError {
 public:
  /// `hold` ends with slopes.
  PredictionError(RankNetwork& subsystems, const Hold& hold, const Tolerance& tolerance);

  /// EST = O(h^{order + 1}).
  int order() const { return degree_; }

  /// A start, or an event: what inputs did before says nothing about those that it reaches.
  /// Collective.
  void restart(const CommunicationPoint& point);

  /// err (ErrorNorm) of the trial, whose inputs are fed `fed` = P y. `terms`: what the outputs that
  /// feed the inputs are sums of, where it is known. Collective.
  double norm(const MacroStep& step, const Trial& trial, std::span<const Sample> fed,
              std::span<const Sample> terms);

  /// The trial became the communication point.
  void commit(const CommunicationPoint& point);

  void io(Archive& archive) {
    norm_.io(archive, Per::connected);
    CONCORD_MEMBERS_PER(archive, Per::connected, largest_, highest_, over_);
    if (ranges_) {
      ranges_->io(archive, Per::connected);
    }
  }
  int memory_version() const { return 2; }

 private:
  double hold_error(std::size_t j, const Polynomial& polynomial, double h) const;
  void forget_reached();
  void see(const CommunicationPoint& point);
  double size(std::size_t j) const;
  double noise(const Sample& terms, double h) const;

  RankNetwork& subsystems_;
  int degree_;
  ConstraintRows constraints_;
  ErrorNorm norm_;
  std::vector<double> largest_;  ///< so far, of rows of constraints
  /// Of the last macro-step's polynomials the highest coefficients, and for how long they held, s:
  /// 0 where nothing is known.
  std::vector<double> highest_, over_;
  std::optional<SignalRanges> ranges_;  ///< of all others, where errors are judged by them
};

}  // namespace concord

#pragma once

#include <optional>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/points/indirect_constraints.hpp"
#include "coupling/problem/constraint_rows.hpp"

namespace concord {

/// Unknowns of indirect constraints at one point in time. Their equations gamma say nothing of them
/// there, but d gamma/dt does (index 2), or d2 gamma/dt2 (index 3): hidden constraints (Hairer and
/// Wanner 1996, VII.1). The second derivative is that of d gamma/dt along (t, x) + s (1, f).
///
/// Every rank has the unknowns of all ranks, in the same bits.
class HiddenConstraints {
 public:
  HiddenConstraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                    const CommunicationPoint& point);

  /// Whether every subsystem gives y' of which d gamma/dt is made.
  bool slopes_are_there() const { return slopes_are_there_; }

  /// gamma and d gamma/dt for the unknowns of `point`, one entry per indirect constraint of the
  /// network; nothing where some output cannot be evaluated. Collective.
  std::optional<std::vector<Sample>> equations();

  /// Whether d gamma/dt answers to the unknowns, whatever their unit. Collective.
  std::vector<bool> answers();

  /// Puts unknowns that meet the hidden constraints, and what fits them, into `point`; those that
  /// are there where none are nearer, as where they meet them to rounding, or some subsystem cannot
  /// tell: without the slopes that they came with. Collective.
  void solve(CommunicationPoint& point);

  /// Position of own constraint k among the indirect ones.
  std::size_t position(std::size_t k) const { return indirect_.position(k); }

 private:
  class Displaced;
  using Values = std::vector<double>;

  std::optional<std::vector<Sample>> at(const Values& unknowns);
  std::optional<Values> rows(const Values& unknowns);
  std::optional<std::vector<Sample>> displaced(double s, const std::vector<Values>& slopes);
  std::optional<std::vector<Values>> state_slopes();
  bool find_increments(const Values& unknowns, const Values& rows);
  std::optional<Values> newton(Values unknowns);
  std::optional<Values> correction(const Values& unknowns, const Values& rows);

  std::size_t count() const { return indirect_.count(); }
  bool all_answer() const;

  RankNetwork& subsystems_;
  ConsistentInputs& consistent_;
  const CommunicationPoint& point_;
  bool slopes_are_there_ = false, states_are_there_ = false;
  IndirectConstraints indirect_;
  std::vector<bool> answers_;
  Values increments_, scales_;
  std::vector<Sample> inputs_, outputs_;
};

}  // namespace concord

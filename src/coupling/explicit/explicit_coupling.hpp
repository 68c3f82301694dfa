#pragma once

#include "coupling/explicit/direct_constraints.hpp"
#include "coupling/explicit/shaped_inputs.hpp"
#include "coupling/points/start.hpp"
#include "coupling/problem/stages.hpp"
#include "signal/history.hpp"

namespace concord {

/// Solve `none`: inputs from the past, every subsystem integrated once, no solver object.
///
/// Order k + 1 for hold order k (Moshagen; Arnold 2012). Outputs with direct feedthrough come from
/// the held inputs, as from a black box, unless method.consistent_outputs asks for them to be
/// evaluated again.
///
/// Unknowns of direct constraints are solved for at the end of every macro-step and extrapolated
/// over the next: by projection, overlapping or staggered (DirectConstraints).
///
/// In sequence, a subsystem interpolates what earlier members of its group have put out on this
/// macro-step (Gauss-Seidel), through the last points and the new one; the rest it extrapolates.
///
/// What is held moves all the same: where somebody has conditions, slopes are asked for at every
/// communication point, with which these are looked at behind an event.
///
/// The order needs a good beginning: slopes at t_0 where every subsystem gives them, and for k = 3
/// a first macro-step that is repeated with its own end values, where every subsystem rolls back.
class ExplicitCoupling : public Coupling {
 public:
  ExplicitCoupling(const Method& method, RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void commit(const CommunicationPoint& point) override;

  /// `h`: since the last commit.
  void commit(const CommunicationPoint& point, double h);
  void restart(CommunicationPoint& point) override;
  std::string explain(const CouplingReport& report) override;
  const BalanceErrors* balance() const override { return shaped_ ? shaped_->balance() : nullptr; }
  std::string describe_start() const override { return about_constraints_; }
  void io(Archive& archive) override;

  /// Undoes the last commit; for orders up to 2.
  void take_back() { history_.drop_newest(); }

 private:
  void hold(double h, const CommunicationPoint& point, std::vector<Polynomial>& polynomials) const;
  void interpolate(double h, std::span<const std::size_t> inputs, const CommunicationPoint& point,
                   Trial& trial) const;
  Outcome advance(std::span<const std::size_t> which, const MacroStep& step,
                  const CommunicationPoint& point, Trial& trial);
  Outcome advance_in_stages(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  Outcome put_out(Outcome outcome, Trial& trial);
  Outcome solve_at_end(Trial& trial);
  Outcome advance_first(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  void take_slopes_of_holds(double h, Trial& trial) const;

  RankNetwork& subsystems_;
  Hold hold_;
  int order_;
  bool makes_consistent_;
  /// Conditions are looked at with the slopes of their inputs, which belong to points everywhere
  /// and not to the macro-steps that lead there.
  bool looks_ahead_;
  bool knows_slopes_, repeats_first_, refines_first_;
  Wanted wanted_;     ///< of every macro-step's end
  bool outputs_fit_;  ///< the inputs there, as do the slopes that a restart needs
  ConsistentInputs consistent_;
  std::optional<DirectConstraints> constraints_;
  std::string about_constraints_;
  Stages stages_;
  SignalHistory history_;
  std::optional<ShapedInputs> shaped_;
};

}  // namespace concord

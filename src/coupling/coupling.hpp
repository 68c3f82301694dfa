#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "coupling/balance_errors.hpp"
#include "coupling/carries_errors.hpp"
#include "coupling/method.hpp"
#include "coupling/point_evaluation.hpp"
#include "network/inside_rows.hpp"
#include "network/rank_network.hpp"

namespace concord {

/// This rank's committed data at the communication point t_N. Only the macro-step's commit changes
/// it.
struct CommunicationPoint {
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, time, last_step, slopes_known);
    CONCORD_MEMBERS_PER(archive, Per::input, inputs, polynomials);
    CONCORD_MEMBERS_PER(archive, Per::output, outputs);
  }

  double time = 0.0;
  double last_step = 0.0;               ///< size of the macro-step that ended here; 0 at the start
  bool slopes_known = false;            ///< whether inputs[i].derivative may begin a hermite hold
  std::vector<Sample> inputs;           ///< u_N, u'_N, where the next holds begin
  std::vector<Sample> outputs;          ///< y_N, y'_N
  std::vector<Polynomial> polynomials;  ///< inputs over the macro-step that ended here
};

/// What a hold that goes through a guess needs of outputs at communication points.
inline Wanted wanted_of(const Hold& hold) {
  return hold.ends_with_curvature() ? Wanted::up_to_curvatures
         : hold.joins_smoothly      ? Wanted::values_and_derivatives
                                    : Wanted::values;
}

/// What a coupling proposes for t_{N+1}; becomes the next CommunicationPoint when accepted.
struct Trial {
  void io(Archive& archive) {
    CONCORD_MEMBERS_PER(archive, Per::input, inputs, polynomials);
    CONCORD_MEMBERS_PER(archive, Per::output, outputs);
  }

  std::vector<Sample> inputs;
  std::vector<Sample> outputs;
  std::vector<Polynomial> polynomials;
};

/// `failed`: a subsystem could not be advanced; `not_converged`: the solver gave up.
enum class CouplingStatus { converged, not_converged, failed };

/// Where a macro-step that is taken in two halves passes through; accepted with its end.
struct Middle {
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, point);
    CONCORD_MEMBERS_PER(archive, Per::state, states);
  }

  CommunicationPoint point;
  std::vector<double> states;
  /// The earliest in the first half that own subsystems tell of, s.
  double event = std::numeric_limits<double>::infinity();
};

/// How the coupling at one macro-step went; the same on every rank.
struct CouplingReport {
  CouplingStatus status = CouplingStatus::converged;
  std::int32_t iterations = 0;
  std::int32_t evaluations = 0;  ///< of the coupling function: integrations of all subsystems
  std::int32_t linear_iterations = 0;
  std::int32_t nodes = 0;  ///< of the macro-step, where the method has some
  double error = 0.0;     ///< err of the step control: at most 1 is accepted; 0 where not estimated
  int error_order = 0;    ///< q, with err = O(h^{q+1})
  bool at_noise = false;  ///< converged to the integrators' noise, which is above the tolerance
  double noise = 0.0;     ///< how far above the tolerance it then is, at least; 0 elsewhere
  bool ended_early = false;  ///< by its deadline (Deadline): `residual` is what was left out
  bool followed = true;   ///< the subsystems have gone this way, which tells events, or some of it
  bool retryable = true;  ///< after a failure: every subsystem can return to the step's beginning
  double residual = 0.0;  ///< max_i |u - P y| / (eps_rel |u| + eps_abs); below 1 is converged
};

/// What the step control makes of the error that an accepted macro-step leaves; errors in units of
/// its tolerance.
struct StepJudgement {
  double error = 0.0;    ///< of the macro-step
  double allowed = 1.0;  ///< the most that any may leave
  double run = 0.0;      ///< what all before have come to, as far as that is known
  double free = std::numeric_limits<double>::infinity();     ///< what it may still grow by
  double rest = 0.0;                                         ///< s up to the end of the run
  double longest = std::numeric_limits<double>::infinity();  ///< macro-step, s
};

/// A coupling method at work: finds inputs and outputs at t_{N+1} and leaves the subsystems there.
class Coupling {
 public:
  virtual ~Coupling() = default;

  /// Before the first macro-step: consistent inputs and outputs at t_0. Throws SimulationError.
  virtual void start(const MacroStep& first, double stop, CommunicationPoint& point) = 0;

  /// Collective. With rollback, the subsystems were saved at step.begin before the call.
  virtual CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                               Trial& trial) = 0;

  /// Of the trial that is accepted next, where the step control knows errors.
  virtual void judged(const StepJudgement& /*judgement*/) {}

  /// The trial was accepted; `point` is the new communication point.
  virtual void commit(const CommunicationPoint& /*point*/) {}

  /// The trial was rejected, the subsystems are back at the communication point.
  virtual void rejected() {}

  /// Something jumped at `point` (event): the past says nothing about what comes. Slopes of inputs
  /// are there only with point.slopes_known. Collective. Throws SimulationError.
  virtual void restart(CommunicationPoint& /*point*/) {}

  /// Of the last solve, where the macro-step is taken in two halves; else null.
  virtual const Middle* middle() const { return nullptr; }

  /// Estimated errors of this rank's outputs at the end of the last solve; empty where the coupling
  /// estimates none.
  virtual std::span<const double> error_estimates() const { return {}; }

  /// P y of the last solve, whole local arrays, where its trial's inputs may differ from it; else
  /// empty.
  virtual std::span<const Sample> fed() const { return {}; }

  /// Whether some inputs, on any rank, began the last macro-step afresh because a layer was over
  /// long before its end (Joins).
  virtual bool passed_layer() const { return false; }

  /// What was solved for within the macro-step of the last solve, where anything was; else null.
  virtual const InsideRows* inside() const { return nullptr; }

  /// Of this rank's inputs, up to the last commit; null where they are not measured.
  virtual const BalanceErrors* balance() const { return nullptr; }

  /// Who carries errors over macro-steps; null: nobody does, and linearisations at their ends are
  /// to tell.
  virtual CarriesErrors* carries_errors() { return nullptr; }

  /// After a solve that did not converge or failed: what happened and what to do. Collective.
  virtual std::string explain(const CouplingReport& report) = 0;

  /// Where the coupling itself integrates the states (monolithic): all states and what it cost;
  /// else empty and null, and the subsystems have them.
  virtual std::span<const double> states() const { return {}; }
  virtual const Counters* counters() const { return nullptr; }

  /// The whole network as one subsystem, where the coupling integrates it; else null.
  virtual Subsystem* whole() { return nullptr; }

  /// There, after a solve that is kept: from its states at step.begin to states and outputs at
  /// step.end, within the macro-step (Subsystem::retrace). False where it cannot tell.
  virtual bool retrace(const MacroStep& /*step*/, std::span<double> /*states*/,
                       std::span<Sample> /*outputs*/) {
    return false;
  }

  /// Whether the coupling itself tells of points within the macro-step of the last solve that is
  /// kept; and their variables. Gives by how much each output may be wrong there beyond what it is
  /// at the ends. Collective. Throws SimulationError.
  virtual bool tells_inside() const { return false; }
  virtual std::span<const double> tell_inside(std::span<PassedPoint> /*points*/) { return {}; }

  /// Where the subsystems' outputs are to be evaluated at the end of the last solve, if not at the
  /// subsystems themselves.
  virtual PointEvaluation* evaluation() { return nullptr; }

  /// What `start` has found out that is worth telling (-cosim_view), in whole lines.
  virtual std::string describe_start() const { return {}; }

  /// What the next macro-step depends on, beside the point and the subsystems: of a coupling that
  /// was started when it is written; when it is read, of one that is new or has gone on, whose
  /// subsystems stand where the other's did. Caches are not in it, and are made anew where what
  /// they were made of changes.
  virtual void io(Archive& archive) = 0;
  /// Of what `io` passes: to be raised where that changes.
  virtual int memory_version() const { return 1; }

  /// SNES, KSP and other settings in effect (-cosim_view). Collective.
  virtual void view() const {}
};

}  // namespace concord

#pragma once

#include <optional>

#include "coupling/implicit/coupling_solver.hpp"
#include "coupling/implicit/first_guess.hpp"
#include "coupling/implicit/prediction_error.hpp"
#include "coupling/points/start.hpp"
#include "coupling/problem/constraint_sizes.hpp"

namespace concord {

/// Solve `snes`: the coupling at t_{N+1} as R(U) = U - (P y(U), P y'(U)) = 0 on a PETSc SNES.
///
/// U = (u, u') of the connected inputs, or u alone (zoh, foh, soh). One evaluation of R restores
/// every subsystem to t_N and integrates it over the macro-step. Subsystems without rollback take
/// part as their COSTARICA estimators and are integrated once, with the accepted inputs. With the
/// predictor `missiles`, the estimators' linear system gives the first guess, and its matrix is the
/// Jacobian. Sources: Eguillon et al. 2019 (26)-(27), 2022 (34)-(35).
///
/// Its parts: CouplingUnknowns (U and its scales), CouplingEvaluation (R), CouplingJacobian,
/// CouplingConvergence, FirstGuess, and CouplingSolver, the SNES that has them as callbacks.
class ImplicitCoupling : public Coupling {
 public:
  /// `loosest`: the largest -subsystem_rtol.
  ImplicitCoupling(const Method& method, RankNetwork& subsystems, double loosest);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void commit(const CommunicationPoint& point) override;
  void rejected() override;
  void restart(CommunicationPoint& point) override;
  std::span<const Sample> fed() const override { return parts_->evaluation.fed(); }
  bool passed_layer() const override { return joins_.any_layer(); }
  void io(Archive& archive) override;
  std::string explain(const CouplingReport& report) override;
  void view() const override { parts_->solver.view(); }

 private:
  /// Each knows those before it.
  struct Parts {
    Parts(ImplicitCoupling& coupling, double noise_level);
    CouplingUnknowns unknowns;
    CouplingEvaluation evaluation;
    CouplingJacobian jacobian;
    CouplingConvergence convergence;
    FirstGuess guess;
    CouplingSolver solver;
  };

  void create_estimators();
  void remember(const CommunicationPoint& point);
  void iterate(CouplingReport& report);
  void finish(CouplingReport& report);
  std::string describe_progress(const CouplingReport& report) const;

  Method method_;
  RankNetwork& subsystems_;
  ConsistentInputs consistent_;
  ConstraintRows constraints_;
  ConstraintSizes constraint_sizes_;
  Joins joins_;
  EvaluationStages stages_;
  std::optional<Estimators> estimators_;
  std::optional<MissilesSystem> missiles_;
  PredictionError error_estimate_;
  StepAttempt attempt_;
  std::optional<Parts> parts_;
};

}  // namespace concord

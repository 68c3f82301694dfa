#pragma once

#include <optional>

#include "coupling/constraint_rows.hpp"
#include "coupling/input_operator.hpp"
#include "coupling/missiles_system.hpp"
#include "coupling/prediction_error.hpp"
#include "coupling/stages.hpp"
#include "coupling/start.hpp"
#include "coupling/subsystem_gains.hpp"
#include "coupling/unknowns_error.hpp"
#include "signal/history.hpp"
#include "support/petsc.hpp"

namespace concord {

/// Solve `snes`: the coupling at t_{N+1} as R(U) = U - (P y(U), P y'(U)) = 0 on a PETSc SNES.
///
/// U = (u, u') of the connected inputs, or u alone (zoh, foh, soh). One evaluation of R restores
/// every subsystem to t_N and integrates it over the macro-step. SNES sees v = U / S and R / S with
/// S = (|u| + atol/rtol, that / h), so that unknowns and residuals are of order one. Subsystems
/// without rollback take part as their COSTARICA estimators and are integrated once, with the
/// accepted inputs. With the predictor `missiles`, the estimators' linear system gives the first
/// guess, and its matrix is the Jacobian. Sources: Eguillon et al. 2019 (26)-(27), 2022 (34)-(35).
///
/// In a schedule with sequences, one evaluation runs stage by stage: what earlier members of a
/// group have put out in it takes the place of U for the members after them (Gauss-Seidel waveform
/// iteration). Those entries of U then have no influence and residual 0. Of J = I - P K that
/// eliminates them: with zeros there on the right side, J^-1 gives the other entries of a Newton
/// step of what is left, a Schur complement of J. So the Jacobian needs no schedule.
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
  std::span<const Sample> fed() const override { return fed_; }
  std::string explain(const CouplingReport& report) override;
  void view() const override;

 private:
  // The problem, as SNES sees it.
  static PetscErrorCode form_function(SNES snes, Vec v, Vec f, void* self);
  static PetscErrorCode form_jacobian(SNES snes, Vec v, Mat a, Mat p, void* self);
  static PetscErrorCode converged(SNES snes, PetscInt it, PetscReal xnorm, PetscReal gnorm,
                                  PetscReal fnorm, SNESConvergedReason* reason, void* self);
  void create_snes(const Method& method);
  void set_from_options();
  void choose_linear_solver();
  void refuse_unsuitable_solver() const;

  void divide_roles();

  /// Own subsystems that run together in an evaluation.
  struct Stage {
    std::vector<std::size_t> known;      ///< positions of connected inputs that earlier stages feed
    std::vector<std::size_t> iterated;   ///< integrated at each evaluation
    std::vector<std::size_t> estimated;  ///< without rollback: by their estimator
  };

  // One evaluation of the coupling function.
  bool predict(const CommunicationPoint& point, double h);
  void take_jacobian(double h);
  void guess(const CommunicationPoint& point, double h);
  void read_unknown(Vec v);
  void integrate();
  void hold(std::size_t j);
  void begin_evaluation();
  void run(const Stage& stage);
  void take_over(const Stage& stage);
  void advance(std::span<const std::size_t> which);
  void write_residual(Vec f) const;

  // The Jacobian by coloured differences, kept over steps while it serves.
  bool jacobian_is_stale() const;
  void difference_gains();
  void renew_jacobian(Vec v);
  void perturb(std::size_t column);
  void update_scale(const CommunicationPoint& point, double h);
  void write_scale();

  bool guess_is_good();
  void forget_updates();
  double worst_ratio(Vec f);
  bool stagnates(PetscInt it, double ratio);
  bool unknowns_are_off(PetscInt it, Vec f);
  double unknowns_error(Vec f);
  void remember_largest(const CommunicationPoint& point);
  void accept(Vec v);
  void integrate_estimated();

  Method method_;
  RankNetwork& subsystems_;
  int parts_;
  Wanted wanted_;
  ConsistentInputs consistent_;
  ConstraintRows constraints_;
  SignalHistory history_;

  VecHandle unknown_, residual_, scale_, residual_scale_;
  SnesHandle snes_;
  bool quasi_newton_ = false;
  bool watched_ = false;  ///< -snes_monitor and the like: SNES is called in any case
  SubsystemGains gains_;
  PetscInt widest_ = 0;  ///< columns of the widest subsystem on any rank
  std::optional<InputOperator> operator_;
  std::optional<Estimators> estimators_;
  std::optional<MissilesSystem> missiles_;
  std::optional<UnknownsError> unknowns_error_;  ///< with indirect constraints
  std::vector<Stage> stages_;
  std::vector<bool> known_;      ///< per connected input: whether an earlier stage feeds it
  bool some_estimated_ = false;  ///< on any rank

  PredictionError error_;
  MacroStep step_;
  const CommunicationPoint* point_ = nullptr;
  Trial* trial_ = nullptr;
  std::vector<Sample> fed_;           ///< P y of the last evaluation
  std::vector<Sample> base_outputs_;  ///< y at the point of differencing
  std::vector<double> evaluated_;     ///< own entries of v of the last evaluation
  std::vector<double> scale_values_;
  std::vector<double> residual_scale_values_;  ///< the same but in the rows of constraints
  double noise_level_;                         ///< relative to largest_
  std::vector<double> largest_;                ///< |u| so far, per connected input
  double noise_ratio_ = 0.0;                   ///< of the last residual
  double best_ratio_ = 0.0;                    ///< of this solve
  PetscInt best_iteration_ = 0;
  double last_error_ = 0.0;  ///< of indirect constraints' unknowns, relative
  bool subsystems_moved_ = false;
  bool last_failed_ = false;
  double first_norm_ = 0.0;
  double good_ratio_ = 0.0;           ///< of the first guess
  bool guess_is_evaluated_ = false;   ///< SNES's first function evaluation has been made already
  double jacobian_step_ = 0.0;        ///< h of the kept Jacobian; 0: none
  bool jacobian_is_new_ = false;      ///< made for this macro-step
  bool jacobian_is_useless_ = false;  ///< too old for the unknowns of indirect constraints
  PetscInt jacobian_age_ = 0;         ///< Newton iterations in this solve with the kept Jacobian
  std::int32_t evaluations_ = 0;
};

}  // namespace concord

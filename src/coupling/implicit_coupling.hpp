#pragma once

#include <optional>

#include "coupling/amplification.hpp"
#include "coupling/constraint_sizes.hpp"
#include "coupling/contraction.hpp"
#include "coupling/coupling_scales.hpp"
#include "coupling/input_operator.hpp"
#include "coupling/joins.hpp"
#include "coupling/missiles_system.hpp"
#include "coupling/prediction_error.hpp"
#include "coupling/stages.hpp"
#include "coupling/start.hpp"
#include "coupling/subsystem_gains.hpp"
#include "coupling/unknowns_error.hpp"
#include "signal/history.hpp"
#include "support/callback_guard.hpp"
#include "support/petsc.hpp"

namespace concord {

/// Solve `snes`: the coupling at t_{N+1} as R(U) = U - (P y(U), P y'(U)) = 0 on a PETSc SNES.
///
/// U = (u, u') of the connected inputs, or u alone (zoh, foh, soh). One evaluation of R restores
/// every subsystem to t_N and integrates it over the macro-step. SNES sees v = U / S and R / T with
/// the scales S and T of CouplingScales, so that unknowns and residuals are of order one.
/// Subsystems without rollback take part as their COSTARICA estimators and are integrated once,
/// with the accepted inputs. With the predictor `missiles`, the estimators' linear system gives the
/// first guess, and its matrix is the Jacobian. Sources: Eguillon et al. 2019 (26)-(27), 2022
/// (34)-(35).
///
/// Guesses are tested where they lead: one that cannot be evaluated, or whose residual is many
/// times the signals' sizes, gives way to the next one. Converged is what has an error of U below
/// the tolerance: J^{-1} R where there is a Jacobian, else the residual by what the iteration's
/// contraction makes of it.
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
  bool passed_layer() const override { return joins_.any_layer(); }
  void io(Archive& archive) override;
  std::string explain(const CouplingReport& report) override;
  void view() const override;

 private:
  // The problem, as SNES sees it.
  static PetscErrorCode form_function(SNES snes, Vec v, Vec f, void* self);
  static PetscErrorCode form_jacobian(SNES snes, Vec v, Mat a, Mat p, void* self);
  void after_callbacks(PetscErrorCode code);
  static PetscErrorCode converged(SNES snes, PetscInt it, PetscReal xnorm, PetscReal gnorm,
                                  PetscReal fnorm, SNESConvergedReason* reason, void* self);
  void create_snes(const Method& method);
  void set_from_options();
  void choose_linear_solver();
  void choose_differencing();
  void refuse_unsuitable_solver() const;

  void divide_roles();
  void remember(const CommunicationPoint& point);

  /// Own subsystems that run together in an evaluation.
  struct Stage {
    std::vector<std::size_t> known;      ///< positions of connected inputs that earlier stages feed
    std::vector<std::size_t> fed;        ///< these inputs
    std::vector<std::size_t> iterated;   ///< integrated at each evaluation
    std::vector<std::size_t> estimated;  ///< without rollback: by their estimator
  };

  /// First guesses of U: the estimators' coupled prediction, the continued holds, back to t_N.
  enum class Guess { estimated, extrapolated, held };
  enum class Fault { none, failed, far_off };
  /// What became of a guess in this macro-step.
  struct Look {
    Guess guess;
    Fault fault;
    double residual;  ///< in units of the signals' sizes
  };
  /// The residual at a point, over all ranks.
  struct Residual {
    double ratio = 0.0;   ///< largest over its tolerance; infinite where not a number, or failed
    double scaled = 0.0;  ///< largest entry of R / T
    double spread = 0.0;  ///< largest S over the tolerance of its unknown
  };
  enum class Verdict { going_on, converged, noise };

  // Where a solve begins.
  bool estimate();
  bool take_guess(Guess guess);
  void take_jacobian(double h);
  void drop_jacobian();
  void extrapolate();
  void turn_back();
  bool look_at(Guess guess);
  void evaluate_guess();
  void judge_guess();
  bool find_guess(bool plain);
  std::string describe_guesses() const;
  std::string describe_progress(const CouplingReport& report) const;
  void settle_scales();
  void write_scale();
  void write_unknown();

  // One evaluation of the coupling function.
  void begin_solve(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  void read_unknown(Vec v);
  void integrate();
  void hold(std::size_t j);
  void begin_evaluation();
  void run(const Stage& stage);
  void take_over(const Stage& stage);
  void advance(std::span<const std::size_t> which);
  bool joins_smoothly_at(std::size_t k) const;
  void write_residual(Vec f) const;

  // The Jacobian by coloured differences, kept over steps while it serves.
  bool jacobian_is_stale() const;
  double increment(std::size_t k, std::size_t column) const;
  void difference_column(std::size_t column);
  bool take_column(std::size_t k, std::size_t column);
  void correct_by_equation(std::size_t k, std::size_t column);
  bool difference_again(std::size_t k, std::size_t column);
  bool difference_gains();
  bool renew_jacobian(Vec v);

  // When it is converged.
  template <class Action>
  void for_each_row(const Action& action) const;
  Residual measure(Vec f);
  void measure_steps(Vec x, Vec f, std::span<double> largest) const;
  void remember_iterate(Vec x, Vec f);
  void begin_iteration(Vec x, Vec f);
  Verdict judge(PetscInt it, Vec x, Vec f);
  bool error_is_small(const Residual& residual, Vec f);
  bool unknowns_are_off(Vec f);
  double error_of_unknowns(Vec e) const;
  double error_of_indirect_unknowns(Vec e) const;
  bool has_stopped(PetscInt it, double ratio, Vec x);
  double noise_ratio(Vec f);
  void learn_terms();
  double row_tolerance(std::size_t j, int part) const;

  void forget_updates();
  void iterate(CouplingReport& report);
  void conclude(CouplingReport& report);
  void finish(CouplingReport& report);
  void accept(Vec v);
  void integrate_estimated();

  Method method_;
  RankNetwork& subsystems_;
  int parts_;
  Wanted wanted_;
  ConsistentInputs consistent_;
  ConstraintRows constraints_;
  ConstraintSizes constraint_sizes_;
  CouplingScales scales_;
  Joins joins_;
  SignalHistory history_;

  VecHandle unknown_, residual_, scale_, residual_scale_;
  SnesHandle snes_;
  bool quasi_newton_ = false;
  bool takes_jacobian_ = false;  ///< the solver works with the matrix
  CallbackGuard guard_;          ///< of what SNES calls
  bool watched_ = false;         ///< -snes_monitor and the like: SNES is called in any case
  SubsystemGains gains_;
  PetscInt widest_ = 0;  ///< columns of the widest subsystem on any rank
  std::optional<InputOperator> operator_;
  std::optional<Estimators> estimators_;
  std::optional<MissilesSystem> missiles_;
  std::optional<UnknownsError> unknowns_error_;
  Amplification amplification_;
  std::vector<Stage> stages_;
  std::vector<bool> known_;      ///< per connected input: whether an earlier stage feeds it
  bool some_estimated_ = false;  ///< on any rank

  PredictionError error_estimate_;
  MacroStep step_;
  const CommunicationPoint* point_ = nullptr;
  Trial* trial_ = nullptr;
  std::vector<Sample> fed_;                         ///< P y of the last evaluation
  std::vector<Sample> base_inputs_, base_outputs_;  ///< the point of differencing
  std::vector<std::size_t> again_;                  ///< own subsystems to be differenced again
  std::vector<double> evaluated_;                   ///< own entries of v of the last evaluation
  std::vector<double> scale_values_, residual_scale_values_;  ///< S and T as SNES knows them
  bool some_sizes_unknown_ = false;                           ///< on any rank

  std::vector<Look> looks_;
  bool estimated_ = false;           ///< the estimators' prediction is there
  Residual first_;                   ///< at the guess
  bool guess_is_good_ = false;       ///< already converged
  bool guess_is_evaluated_ = false;  ///< SNES's first function evaluation has been made already

  double noise_level_;         ///< relative to sizes
  std::vector<Sample> terms_;  ///< what outputs are sums of, as inputs see it; noise follows it
  bool terms_known_ = false;   ///< in this macro-step
  std::vector<double> last_iterate_, last_residual_, anchor_;
  double path_ = 0.0;        ///< of v since the anchor
  double best_ratio_ = 0.0;  ///< of this solve
  PetscInt best_iteration_ = 0;
  double lowest_ratio_ = 0.0, anchor_ratio_ = 0.0;  ///< so far, and before the anchor
  Contraction contraction_;
  double newton_rate_ = 0.0;  ///< contraction with the kept Jacobian
  double first_norm_ = 0.0;
  double bound_ = 0.0;       ///< |J^-1|; 0: not known
  double error_ = 0.0;       ///< of U at the last iterate, over its tolerance
  double last_error_ = 0.0;  ///< of indirect constraints' unknowns, relative
  Verdict verdict_ = Verdict::going_on;

  bool jacobian_is_of_layer_ = false;  ///< the kept Jacobian is one of a layer
  bool subsystems_moved_ = false;
  bool last_failed_ = false;
  double jacobian_step_ = 0.0;          ///< h of the kept Jacobian; 0: none
  bool jacobian_is_new_ = false;        ///< made for this macro-step
  bool jacobian_is_estimated_ = false;  ///< the estimators' matrix
  bool jacobian_is_useless_ = false;    ///< too old for the unknowns of indirect constraints
  PetscInt jacobian_age_ = 0;           ///< Newton iterations in this solve with the kept Jacobian
  std::int32_t evaluations_ = 0;
};

}  // namespace concord

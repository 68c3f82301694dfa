#pragma once

#include "coupling/implicit/contraction.hpp"
#include "coupling/implicit/coupling_jacobian.hpp"
#include "coupling/implicit/iteration_progress.hpp"
#include "coupling/implicit/output_terms.hpp"

namespace concord {

/// The residual of a coupling at a point, over all ranks.
struct CouplingResidual {
  double ratio = 0.0;   ///< largest over its tolerance; infinite where not a number, or failed
  double scaled = 0.0;  ///< largest entry of R / T
  double spread = 0.0;  ///< largest S over the tolerance of its unknown
  bool failed = false;  ///< some subsystem could not be advanced
  bool guessed_scales = false;
  bool objected = false;    ///< some rank did not suppose what the guess stands on
  bool sees_layer = false;  ///< some rank sees a layer in what the inputs are fed
  bool late = false;        ///< some rank has no time left for one more correction
};

/// What a rank tells the others together with its residual.
struct Remarks {
  bool objects = false;
  bool sees_layer = false;
};

/// When an implicit coupling counts as converged: what has an error of U below the tolerance, by
/// J^-1 R where there is a Jacobian, else by what the iteration's contraction makes of the
/// residual; or what has come down to the noise of integrators and rounding and stays there. Where
/// a deadline is near it ends as it is. Six of its members are the parts of the coupling that it
/// looks at.
class CouplingConvergence {
 public:
  enum class Verdict { going_on, converged, noise, out_of_time };

  /// `noise_level`: of outputs, relative to sizes. `estimators`: null where none is there.
  CouplingConvergence(RankNetwork& subsystems, const ConstraintRows& constraints,
                      const Tolerance& tolerance, double noise_level, const Estimators* estimators,
                      const CouplingUnknowns& unknowns, const CouplingEvaluation& evaluation,
                      CouplingJacobian& jacobian, const StepAttempt& attempt);

  void begin();

  /// Of the last evaluation. Collective.
  CouplingResidual measure(Vec f, const Remarks& remarks = {});

  /// Takes the residual of the evaluated guess as the first one.
  const CouplingResidual& measure_guess(const Remarks& remarks = {});
  /// Whether the guess has converged; what outputs are sums of counts where it hasn't, at first
  /// sight. Collective.
  bool judge_guess();
  const CouplingResidual& first() const { return first_; }

  /// After iteration `it`, 0 being the guess itself. Collective.
  Verdict judge(PetscInt it, Vec x, Vec f);

  /// After SNES has ended, wherever it did, `stuck` where its line search found nothing better
  /// along Newton's direction: of a Jacobian that serves, contraction has stopped, too. Collective.
  Verdict conclude(bool stuck, CouplingReport& report);

  /// The guess was all that was needed.
  void accept_guess() {
    verdict_ = Verdict::converged;
    failed_ = false;
  }

  Verdict verdict() const { return verdict_; }
  double error() const { return error_; }  ///< of U at the last iterate, over its tolerance
  /// Whether, on any rank, the evaluation of the last iterate has failed.
  bool failed() const { return failed_; }
  double rate() const { return contraction_.rate(); }

  /// What the outputs are sums of. Collective where it isn't known yet.
  std::span<const Sample> terms();

  /// Something has jumped.
  void forget() { contraction_.forget(); }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, contraction_); }

 private:
  template <class Action>
  void for_each_row(const Action& action) const;
  double smallest_row_tolerance(std::size_t j) const;
  double row_tolerance(std::size_t j, std::size_t part) const;
  bool error_is_small(const CouplingResidual& residual, Vec f);
  bool unknowns_are_off(Vec e);
  double error_of_unknowns(Vec e) const;
  double error_of_indirect_unknowns(Vec e) const;
  void measure_steps(std::span<const double> v, std::span<const double> r,
                     std::span<double> largest) const;
  double noise_ratio(Vec f);
  void learn_terms();
  bool ends_here(int corrections, const CouplingResidual& residual) const;

  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  const CouplingUnknowns& unknowns_;
  const CouplingEvaluation& evaluation_;
  CouplingJacobian& jacobian_;
  const StepAttempt& attempt_;
  double relative_;  ///< tolerance
  double noise_level_;
  OutputTerms terms_;
  IterationProgress progress_;
  Contraction contraction_;
  CouplingResidual first_;
  Verdict verdict_ = Verdict::going_on;
  double error_ = 0.0;
  double last_error_ = 0.0;  ///< of indirect constraints' unknowns, relative
  bool guess_is_good_ = false;
  bool failed_ = false;
};

}  // namespace concord

#include "coupling/implicit_coupling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/constraint_start.hpp"
#include "coupling/linear_solver_defaults.hpp"
#include "coupling/solver_limits.hpp"
#include "support/agreement.hpp"
#include "support/log_events.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

/// Relative to the largest value of an input so far: what is left of differences (output slopes)
/// and, in units of the integrators' rtol, of their decisions on orders and step sizes.
constexpr double rounding_noise = 1e-11;
constexpr double integrator_noise = 10.0;

/// Three guesses and the best of them again, with and without the estimators.
constexpr std::size_t most_looks = 8;

}  // namespace

ImplicitCoupling::ImplicitCoupling(const Method& method, RankNetwork& subsystems, double loosest)
    : method_(method),
      subsystems_(subsystems),
      parts_(unknowns_per_input(method.hold)),
      wanted_(joins_smoothly(method.hold) ? Wanted::values_and_derivatives : Wanted::values),
      consistent_(subsystems),
      constraints_(subsystems),
      constraint_sizes_(subsystems),
      scales_(subsystems, constraints_, method.tolerance, parts_),
      joins_(subsystems, constraints_),
      history_(subsystems.n_inputs(), method.hold == Hold::zoh ? 1 : 2),
      gains_(subsystems, parts_),
      amplification_(subsystems),
      error_estimate_(subsystems, method.adapt_tolerance),
      fed_(subsystems.n_inputs()),
      base_outputs_(subsystems.n_outputs()),
      evaluated_(subsystems.connected_inputs().size() * parts_),
      scale_values_(evaluated_.size(), 1.0),
      residual_scale_values_(scale_values_),
      noise_level_(std::max(rounding_noise, integrator_noise * loosest)),
      terms_(subsystems.n_inputs()),
      last_iterate_(evaluated_.size()),
      last_residual_(evaluated_.size()),
      anchor_(evaluated_.size()) {
  operator_.emplace(subsystems, gains_);
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    widest_ = std::max(widest_, static_cast<PetscInt>(gains_.columns(k)));
  }
  widest_ = agree_on_largest(subsystems.comm(), static_cast<int>(widest_));
  unknowns_error_.emplace(operator_->matrix(), constraints_.any());
  looks_.reserve(most_looks);
  divide_roles();
  create_snes(method);
}

void ImplicitCoupling::divide_roles() {
  const Stages order(subsystems_, method_.groups);
  const auto& connected = subsystems_.connected_inputs();
  known_.assign(connected.size(), false);
  bool estimates = false;
  for (std::size_t s = 0; s < order.count(); ++s) {
    Stage& stage = stages_.emplace_back();
    for (const std::size_t k : order.members(s)) {
      const bool rolls_back = subsystems_.own(k).description().capabilities.rollback;
      (rolls_back ? stage.iterated : stage.estimated).push_back(k);
      estimates = estimates || !rolls_back;
    }
    stage.fed.assign(order.known_inputs(s).begin(), order.known_inputs(s).end());
    for (const std::size_t input : stage.fed) {
      const auto j = std::lower_bound(connected.begin(), connected.end(), input);
      stage.known.push_back(static_cast<std::size_t>(j - connected.begin()));
      known_[stage.known.back()] = true;
    }
  }
  some_estimated_ = agree_on_largest(subsystems_.comm(), estimates ? 1 : 0) != 0;
  const bool euler = method_.predictor == Predictor::linear_implicit;
  const bool predicts = method_.predictor == Predictor::missiles || euler;
  if (predicts || some_estimated_) {
    estimators_.emplace(
        subsystems_,
        euler ? EstimatorSettings{Defect::none, Response::linear_implicit} : method_.estimator);
  }
  if (predicts) {
    missiles_.emplace(subsystems_, *estimators_, method_.tolerance);
  }
}

void ImplicitCoupling::create_snes(const Method& method) {
  petsc(MatCreateVecs(operator_->matrix(), unknown_.out(), nullptr));
  petsc(VecDuplicate(unknown_, residual_.out()));
  petsc(VecDuplicate(unknown_, scale_.out()));
  petsc(VecDuplicate(unknown_, residual_scale_.out()));
  petsc(SNESCreate(subsystems_.comm(), snes_.out()));
  petsc(SNESSetType(snes_, method.snes_type.c_str()));
  petsc(SNESSetFunction(snes_, residual_, form_function, this));
  petsc(SNESSetJacobian(snes_, operator_->matrix(), operator_->matrix(), form_jacobian, this));
  petsc(SNESSetTolerances(snes_, PETSC_DEFAULT, PETSC_DEFAULT, 0.0, method.max_it, 1000000));
  petsc(SNESSetConvergenceTest(snes_, converged, this, nullptr));
  if (method.snes_type == std::string(SNESNRICHARDSON)) {
    SNESLineSearch line_search = nullptr;
    petsc(SNESGetLineSearch(snes_, &line_search));
    petsc(SNESLineSearchSetType(line_search, SNESLINESEARCHBASIC));
  }
  choose_linear_solver();
  petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
  refuse_solvers_of_other_problems(options::text("snes_type").value_or(method.snes_type));
  set_from_options();
  refuse_defective_solvers(snes_);
  refuse_unsuitable_solver();
  choose_differencing();
  SNESType type = nullptr;
  petsc(SNESGetType(snes_, &type));
  const std::string name(type);
  quasi_newton_ = name == SNESQN;
  takes_jacobian_ = !options::has("snes_mf") && (name == SNESNEWTONLS || name == SNESNEWTONTR ||
                                                 name == SNESNEWTONTRDC || name == SNESKSPONLY);
  for (const char* option : {"snes_monitor", "snes_view", "snes_converged_reason"}) {
    watched_ = watched_ || !options::given(option).empty();
  }
}

/// Residuals are scaled: when they are small enough is the convergence test's to say, not the line
/// search's.
void ImplicitCoupling::set_from_options() {
  petsc(SNESSetFromOptions(snes_));
  if (options::has("snes_linesearch_atol")) {
    return;
  }
  SNESLineSearch line_search = nullptr;
  petsc(SNESGetLineSearch(snes_, &line_search));
  petsc(SNESLineSearchSetTolerances(line_search, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 0.0,
                                    PETSC_DEFAULT, PETSC_DEFAULT));
}

/// Matrix-free Newton gets GMRES, else the solver is direct.
void ImplicitCoupling::choose_linear_solver() {
  KSP ksp = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  choose_direct_solver(ksp, operator_->matrix(),
                       constraints_.any() ? Diagonal::with_zeros : Diagonal::full);
  if (options::has("snes_mf") || options::has("snes_mf_operator")) {
    petsc(KSPSetType(ksp, KSPGMRES));
  }
}

/// Matrix-free products are differences of outputs, whose noise is the integrators'.
void ImplicitCoupling::choose_differencing() {
  if (!options::has("snes_mf") || options::has("mat_mffd_err")) {
    return;
  }
  Mat products = nullptr;
  petsc(SNESSetUp(snes_));
  petsc(SNESGetJacobian(snes_, &products, nullptr, nullptr, nullptr));
  petsc(MatMFFDSetFunctionError(products, std::sqrt(noise_level_ / integrator_noise)));
}

/// The row of a constraint is gamma itself: a fixed point over it is no iteration for the unknown.
/// Unknowns that a schedule replaces make columns of zeros.
void ImplicitCoupling::refuse_unsuitable_solver() const {
  for (const char* option : {"snes_fd", "snes_fd_color"}) {
    if (stages_.size() > 1 && options::has(option)) {
      throw InputError(
          "-" + std::string(option) +
          " differences the whole residual, which under -cosim_schedule sequential and "
          "hierarchical doesn't answer to every unknown, so that its Jacobian is "
          "singular; leave it out, or use -snes_mf");
    }
  }
  SNESType type = nullptr;
  petsc(SNESGetType(snes_, &type));
  if (constraints_.any() && std::string(type) == SNESNRICHARDSON) {
    throw InputError(
        "-snes_type nrichardson, a fixed point, cannot solve for the unknowns of constraints; use "
        "-snes_type newtonls (-cosim_type jfm)");
  }
}

void ImplicitCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, wanted_, first, stop, point);
  start_constraints(subsystems_, consistent_, constraints_, method_.tolerance, point);
  constraint_sizes_.see(point.inputs, point.outputs);
  remember(point);
  history_.start(point.inputs, false);
  error_estimate_.restart(point);
}

void ImplicitCoupling::commit(const CommunicationPoint& point) {
  constraint_sizes_.see(point.inputs, point.outputs);
  history_.push(point.last_step, point.inputs);
  remember(point);
  if (method_.estimate == ErrorEstimate::predictor) {
    error_estimate_.commit(point);
  }
  if (estimators_) {
    estimators_->observe(point);
  }
}

void ImplicitCoupling::remember(const CommunicationPoint& point) {
  scales_.see(point);
  if (missiles_) {
    missiles_->commit(point);
  }
}

/// Jacobian, factors and what is known of their quality are made anew.
void ImplicitCoupling::io(Archive& archive) {
  archive(consistent_, constraint_sizes_, scales_, history_, error_estimate_, contraction_, fed_);
  if (estimators_) {
    archive(*estimators_);
  }
  if (missiles_) {
    archive(*missiles_);
  }
}

void ImplicitCoupling::read_unknown(Vec v) {
  const PetscScalar* values = nullptr;
  petsc(VecGetArrayRead(v, &values));
  std::copy_n(values, evaluated_.size(), evaluated_.begin());
  petsc(VecRestoreArrayRead(v, &values));
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (known_[j]) {
      continue;
    }
    Sample& input = trial_->inputs[connected[j]];
    input.value = evaluated_[j * parts_] * scale_values_[j * parts_];
    if (parts_ == 2) {
      input.derivative = evaluated_[2 * j + 1] * scale_values_[2 * j + 1];
    }
  }
}

/// Input j over the macro-step, from its end value in trial.inputs.
void ImplicitCoupling::hold(std::size_t j) {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const double h = step_.size();
  trial_->polynomials[i] =
      joins_.afresh(j)
          ? from_end(method_.hold, trial_->inputs[i], h)
          : from_guess(method_.hold, point_->inputs[i], trial_->inputs[i], h, point_->slopes_known);
}

/// All inputs from their end values, all subsystems at the beginning of the macro-step. End values
/// that are not finite fail before any subsystem sees them.
void ImplicitCoupling::begin_evaluation() {
  last_failed_ = false;
  for (std::size_t j = 0; j < known_.size(); ++j) {
    const Sample& end = trial_->inputs[subsystems_.connected_inputs()[j]];
    last_failed_ = last_failed_ || !std::isfinite(end.value) || !std::isfinite(end.derivative);
    hold(j);
  }
  if (subsystems_moved_) {
    subsystems_.restore();
  }
  subsystems_moved_ = true;
  ++evaluations_;
}

void ImplicitCoupling::run(const Stage& stage) {
  if (last_failed_) {
    return;
  }
  advance(stage.iterated);
  for (const std::size_t k : stage.estimated) {
    estimators_->predict(k, trial_->inputs, trial_->outputs);
  }
}

/// What this evaluation has put out already takes the place of the unknown.
void ImplicitCoupling::take_over(const Stage& stage) {
  subsystems_.exchange(trial_->outputs, stage.fed, fed_);
  for (const std::size_t j : stage.known) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    trial_->inputs[i] = fed_[i];
    hold(j);
  }
}

/// One coupling evaluation with the end values in trial.inputs; those that earlier stages feed are
/// found there afterwards. After a failure no rank goes on to the next stage.
void ImplicitCoupling::integrate() {
  begin_evaluation();
  run(stages_.front());
  for (std::size_t s = 1; s < stages_.size(); ++s) {
    last_failed_ = agree_on_largest(subsystems_.comm(), last_failed_ ? 1 : 0) != 0;
    if (last_failed_) {
      break;
    }
    take_over(stages_[s]);
    run(stages_[s]);
  }
  subsystems_.exchange(trial_->outputs, fed_);
}

/// Whether no input of own subsystem k begins afresh.
bool ImplicitCoupling::joins_smoothly_at(std::size_t k) const {
  const auto& connected = subsystems_.connected_inputs();
  const auto inputs = gains_.inputs(k);
  return std::none_of(inputs.begin(), inputs.end(), [&](std::size_t input) {
    const auto j = std::lower_bound(connected.begin(), connected.end(), input);
    return joins_.afresh(static_cast<std::size_t>(j - connected.begin()));
  });
}

void ImplicitCoupling::advance(std::span<const std::size_t> which) {
  const bool joined =
      joins_smoothly(method_.hold) && !constraints_.any_indirect() && point_->last_step > 0.0;
  const auto run = [&](std::span<const std::size_t> some, bool smooth) {
    const Outcome outcome = subsystems_.advance(
        some, step_, trial_->polynomials,
        smooth ? InputContinuity::smooth : InputContinuity::broken, wanted_, trial_->outputs);
    last_failed_ = last_failed_ || outcome != Outcome::ok;
  };
  if (!joined || !joins_.any_layer()) {
    run(which, joined);
    return;
  }
  for (const std::size_t k : which) {
    run(std::span(&k, 1), joins_smoothly_at(k));
  }
}

/// Subsystems without rollback, once, with the accepted inputs.
void ImplicitCoupling::integrate_estimated() {
  for (std::size_t s = 0; s < stages_.size() && !last_failed_; ++s) {
    advance(stages_[s].estimated);
  }
  subsystems_.exchange(trial_->outputs, fed_);
}

void ImplicitCoupling::rejected() {
  if (estimators_) {
    estimators_->forget();
  }
}

/// A failed trial is a domain error for SNES: not a number, which every rank sees in the norm.
void ImplicitCoupling::write_residual(Vec f) const {
  PetscScalar* r = nullptr;
  petsc(VecGetArrayWrite(f, &r));
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const Sample rest = constraints_.rest_of(j, trial_->inputs[i], fed_[i], trial_->outputs);
    r[j * parts_] = rest.value / residual_scale_values_[j * parts_];
    if (parts_ == 2) {
      r[2 * j + 1] = rest.derivative / residual_scale_values_[2 * j + 1];
    }
  }
  if (last_failed_ && !connected.empty()) {
    r[0] = std::numeric_limits<double>::quiet_NaN();
  }
  petsc(VecRestoreArrayWrite(f, &r));
}

PetscErrorCode ImplicitCoupling::form_function(SNES, Vec v, Vec f, void* self) {
  auto& coupling = *static_cast<ImplicitCoupling*>(self);
  return coupling.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&] {
    if (!std::exchange(coupling.guess_is_evaluated_, false)) {
      coupling.read_unknown(v);
      coupling.integrate();
    }
    coupling.write_residual(f);
    return PetscErrorCode(0);
  });
}

/// What a callback has thrown comes before what SNES says of it.
void ImplicitCoupling::after_callbacks(PetscErrorCode code) {
  guard_.rethrow();
  petsc(code);
}

/// Makes subsystems, inputs and outputs belong to the accepted v: SNES may have looked elsewhere
/// last.
void ImplicitCoupling::accept(Vec v) {
  const PetscScalar* values = nullptr;
  petsc(VecGetArrayRead(v, &values));
  const bool same = std::equal(evaluated_.begin(), evaluated_.end(), values);
  petsc(VecRestoreArrayRead(v, &values));
  if (agree_on_largest(subsystems_.comm(), same ? 0 : 1) != 0) {
    after_callbacks(SNESComputeFunction(snes_, v, residual_));
  }
}

/// PETSc 3.18's quasi-Newton method would begin with the difference between this macro-step's first
/// iterate and the last one's of the macro-step before, which belongs to another problem.
void ImplicitCoupling::forget_updates() {
  if (quasi_newton_) {
    petsc(SNESSetType(snes_, SNESNRICHARDSON));
    petsc(SNESSetType(snes_, SNESQN));
    set_from_options();
  }
}

void ImplicitCoupling::begin_solve(const MacroStep& step, const CommunicationPoint& point,
                                   Trial& trial) {
  step_ = step;
  point_ = &point;
  trial_ = &trial;
  evaluations_ = 0;
  jacobian_age_ = 0;
  jacobian_is_new_ = false;
  jacobian_is_useless_ = false;
  subsystems_moved_ = false;
  terms_known_ = false;
  verdict_ = Verdict::going_on;
  last_error_ = std::numeric_limits<double>::infinity();
  contraction_.expect(step.size());
  joins_.begin();
  std::fill(terms_.begin(), terms_.end(), Sample{});
  looks_.clear();
}

/// From a guess that has been evaluated. SNES is not called where that is converged, as the
/// estimators' prediction mostly is: its look at its options costs more than the rest.
void ImplicitCoupling::iterate(CouplingReport& report) {
  if (guess_is_good_ && !watched_) {
    verdict_ = Verdict::converged;
    report.residual = first_.ratio;
    return;
  }
  settle_scales();
  forget_updates();
  guess_is_evaluated_ = true;
  after_callbacks(SNESSolve(snes_, nullptr, unknown_));
  guess_is_evaluated_ = false;
  accept(unknown_);
  PetscInt iterations = 0, linear_iterations = 0;
  petsc(SNESGetIterationNumber(snes_, &iterations));
  petsc(SNESGetLinearSolveIterations(snes_, &linear_iterations));
  report.iterations += iterations;
  report.linear_iterations += linear_iterations;
  conclude(report);
}

CouplingReport ImplicitCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  const LogScope scope(log_events().solve);
  begin_solve(step, point, trial);
  CouplingReport report;
  report.status = CouplingStatus::failed;
  if (!estimate()) {
    report.retryable = false;
    return report;
  }
  bool found = find_guess(false);
  if (found) {
    iterate(report);
  }
  // A Jacobian of earlier macro-steps, or the estimators', may be what led astray.
  const bool differenced = jacobian_is_new_ && !jacobian_is_estimated_;
  if (found && verdict_ == Verdict::going_on && takes_jacobian_ && !differenced) {
    found = find_guess(true);
    if (found) {
      iterate(report);
    }
  }
  if (found) {
    finish(report);
  }
  report.evaluations = evaluations_;
  return report;
}

/// What the macro-step is, after its last iterate.
void ImplicitCoupling::finish(CouplingReport& report) {
  report.at_noise = verdict_ == Verdict::noise;
  report.noise = report.at_noise ? std::max(report.residual, error_) : 0.0;
  report.status =
      verdict_ == Verdict::going_on ? CouplingStatus::not_converged : CouplingStatus::converged;
  if (agree_on_largest(subsystems_.comm(), last_failed_ ? 1 : 0) != 0) {
    report.status = CouplingStatus::failed;
  }
  if (report.status != CouplingStatus::converged) {
    drop_jacobian();
    return;
  }
  if (some_estimated_) {
    integrate_estimated();
    report.retryable = false;
    report.status = last_failed_ ? CouplingStatus::failed : CouplingStatus::converged;
  }
  if (method_.estimate == ErrorEstimate::predictor) {
    report.error = error_estimate_.norm(step_, *point_, *trial_, fed_, {});
    if (report.error > ErrorNorm::doubtful) {
      learn_terms();
      report.error = error_estimate_.norm(step_, *point_, *trial_, fed_, terms_);
    }
    report.error_order = PredictionError::order;
  }
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial_->inputs[i].derivative = method_.hold == Hold::soh
                                       ? fed_[i].derivative
                                       : trial_->polynomials[i].derivative(step_.size());
  }
}

void ImplicitCoupling::restart(CommunicationPoint& point) {
  make_consistent(subsystems_, consistent_, wanted_, point);
  restart_constraints(subsystems_, consistent_, constraints_, point);
  history_.start(point.inputs, false);
  error_estimate_.restart(point);
  contraction_.forget();
  rejected();
}

}  // namespace concord

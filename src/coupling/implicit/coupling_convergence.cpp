#include "coupling/implicit/coupling_convergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "signal/sample_parts.hpp"
#include "support/agreement.hpp"
#include "support/vec_entries.hpp"

namespace concord {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// How much larger the noise of h^2 y'' may be than that of y: it moves an input by at most a 58th
/// of it, s^3 (1 - s)^2/2, and is made of what integrators leave of stiff states, or differences.
constexpr double curvature_noise = 58.0;

/// What is not a number counts as infinite.
double larger(double worst, double next) {
  return std::isnan(next) ? infinite : std::max(worst, next);
}

}  // namespace

CouplingConvergence::CouplingConvergence(RankNetwork& subsystems, const ConstraintRows& constraints,
                                         const Tolerance& tolerance, double noise_level,
                                         const Estimators* estimators,
                                         const CouplingUnknowns& unknowns,
                                         const CouplingEvaluation& evaluation,
                                         CouplingJacobian& jacobian, const StepAttempt& attempt)
    : subsystems_(subsystems),
      constraints_(constraints),
      unknowns_(unknowns),
      evaluation_(evaluation),
      jacobian_(jacobian),
      attempt_(attempt),
      relative_(tolerance.relative),
      noise_level_(noise_level),
      terms_(subsystems, constraints, estimators),
      progress_(subsystems.comm(), unknowns.count()) {}

void CouplingConvergence::begin() {
  terms_.forget();
  verdict_ = Verdict::going_on;
  last_error_ = infinite;
  failed_ = false;
  contraction_.expect(attempt_.h());
}

void CouplingConvergence::learn_terms() {
  terms_.learn(attempt_.trial->inputs, jacobian_.differenced());
}

std::span<const Sample> CouplingConvergence::terms() {
  learn_terms();
  return terms_.values();
}

/// `action` on each row: its place, the position of its input, and which part of it.
template <class Action>
void CouplingConvergence::for_each_row(const Action& action) const {
  const std::size_t parts = unknowns_.parts();
  for (std::size_t row = 0; row < unknowns_.count(); ++row) {
    action(row, row / parts, row % parts);
  }
}

/// In the unit of u, whatever the output is a sum of.
double CouplingConvergence::smallest_row_tolerance(std::size_t j) const {
  return unknowns_.sizes().row_tolerance(j, attempt_.trial->inputs, evaluation_.fed(),
                                         attempt_.h());
}

/// In the unit of u. No demand is smaller than the rounding of what the output is a sum of.
double CouplingConvergence::row_tolerance(std::size_t j, std::size_t part) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  return std::max(smallest_row_tolerance(j),
                  part_weights(attempt_.h())[part] * terms_.rounding(i, part, attempt_.h()));
}

/// max_i |u - P y| / (eps_rel |u| + eps_abs), slopes counted with h (Eguillon et al. 2019, (27)),
/// curvatures with h^2.
CouplingResidual CouplingConvergence::measure(Vec f, const Remarks& remarks) {
  CouplingResidual result;
  const ReadEntries r(f);
  const double h = attempt_.h();
  const auto weights = part_weights(h);
  const std::size_t parts = unknowns_.parts();
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const double least = smallest_row_tolerance(j);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t row = j * parts + part;
      const double difference = weights[part] * std::abs(r[row]) * unknowns_.residual_scale()[row];
      result.scaled = larger(result.scaled, std::abs(r[row]));
      if (difference != 0.0) {
        const double of_terms = weights[part] * terms_.rounding(i, part, h);
        result.ratio = larger(result.ratio, difference / std::max(least, of_terms));
      }
    }
    const double tolerance =
        unknowns_.sizes().unknown_tolerance(j, attempt_.trial->inputs[i], evaluation_.fed()[i], h);
    if (tolerance > 0.0) {
      result.spread = larger(result.spread, unknowns_.scale()[j * parts] / tolerance);
    }
  }
  const bool failed = evaluation_.failed();
  const auto number = [](bool flag) { return flag ? 1.0 : 0.0; };
  double largest[] = {failed ? infinite : result.ratio,
                      result.scaled,
                      result.spread,
                      number(failed),
                      number(unknowns_.guessed_scales()),
                      number(remarks.objects),
                      number(remarks.sees_layer),
                      number(subsystems_.deadline().is_near())};
  agree_on_largest(subsystems_.comm(), largest);
  return {largest[0],        largest[1],        largest[2],        largest[3] != 0.0,
          largest[4] != 0.0, largest[5] != 0.0, largest[6] != 0.0, largest[7] != 0.0};
}

/// Largest |U - U_before| and |R - R_before|, over tolerances.
void CouplingConvergence::measure_steps(std::span<const double> v, std::span<const double> r,
                                        std::span<double> largest) const {
  const auto& connected = subsystems_.connected_inputs();
  const double h = attempt_.h();
  const auto weights = part_weights(h);
  for_each_row([&](std::size_t row, std::size_t j, std::size_t part) {
    const Sample& input = attempt_.trial->inputs[connected[j]];
    const double weight = weights[part];
    const double step = weight * std::abs(v[row] - progress_.last()[row]) * unknowns_.scale()[row];
    const double change = weight * std::abs(r[row] - progress_.last_residual()[row]) *
                          unknowns_.residual_scale()[row];
    if (step != 0.0) {
      const double tolerance =
          unknowns_.sizes().unknown_tolerance(j, input, evaluation_.fed()[connected[j]], h);
      largest[0] = larger(largest[0], step / tolerance);
    }
    if (change != 0.0) {
      largest[1] = larger(largest[1], change / row_tolerance(j, part));
    }
  });
  agree_on_largest(subsystems_.comm(), largest);
}

/// The residual against what integrators and rounding make of outputs.
double CouplingConvergence::noise_ratio(Vec f) {
  learn_terms();
  double worst = 0.0;
  const ReadEntries r(f);
  const double h = attempt_.h();
  const auto weights = part_weights(h);
  for_each_row([&](std::size_t row, std::size_t j, std::size_t part) {
    const double size =
        std::max(unknowns_.sizes().row_size(j, attempt_.trial->inputs, evaluation_.fed(), h),
                 weights[part] * terms_.of(subsystems_.connected_inputs()[j], part));
    const double level = part < 2 ? noise_level_ : curvature_noise * noise_level_;
    const double noise = std::max(row_tolerance(j, part), level * size);
    const double difference = weights[part] * std::abs(r[row]) * unknowns_.residual_scale()[row];
    if (difference != 0.0) {
      worst = larger(worst, difference / noise);
    }
  });
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Largest e over its tolerance; slopes with h. What indirect constraints fix by moments only is
/// judged by itself.
double CouplingConvergence::error_of_unknowns(Vec e) const {
  double worst = 0.0;
  const ReadEntries values(e);
  const double h = attempt_.h();
  const auto indirect = constraints_.indirect_unknowns();
  for_each_row([&](std::size_t row, std::size_t j, std::size_t part) {
    // S of a slope is that of its value over h, S of a curvature that over h^2.
    const double error = std::abs(values[row]) * unknowns_.scale()[j * unknowns_.parts()];
    if (error == 0.0 || constraints_.begins_afresh(j) ||
        std::binary_search(indirect.begin(), indirect.end(), j)) {
      return;
    }
    const std::size_t i = subsystems_.connected_inputs()[j];
    const double tolerance =
        unknowns_.sizes().unknown_tolerance(j, attempt_.trial->inputs[i], evaluation_.fed()[i], h);
    const double noise = constraints_.is_equation(j) ? 0.0 : row_tolerance(j, part);
    worst = larger(worst, error / std::max(tolerance, noise));
  });
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Largest error of an indirect constraint's unknown on any rank, value and h times slope together,
/// relative to its size.
double CouplingConvergence::error_of_indirect_unknowns(Vec e) const {
  double worst = 0.0;
  const ReadEntries values(e);
  const std::size_t parts = unknowns_.parts();
  for (const std::size_t j : constraints_.indirect_unknowns()) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    const Sample& input = attempt_.trial->inputs[i];
    double error = 0.0;
    for (std::size_t row = j * parts; row < (j + 1) * parts; ++row) {
      error += std::abs(values[row]) * unknowns_.scale()[j * parts];
    }
    const double size =
        std::max(std::abs(input.value),
                 unknowns_.sizes().size(j, input, evaluation_.fed()[i], attempt_.h()));
    if (error != 0.0) {
      worst = larger(worst, error / size);
    }
  }
  return agree_on_largest(subsystems_.comm(), worst);
}

/// Unknowns of indirect constraints must be right, too, near the relative tolerance or where noise
/// stops their errors from shrinking; where an old Jacobian does, it is renewed.
bool CouplingConvergence::unknowns_are_off(Vec e) {
  const double error = error_of_indirect_unknowns(e);
  const double before = std::exchange(last_error_, error);
  const bool shrinks = error < 0.5 * before;
  jacobian_.is_useless(!shrinks && !jacobian_.is_new());
  return error > std::pow(relative_, 5.0 / 6.0) && (shrinks || !jacobian_.is_new());
}

/// Whether the error of U is below its tolerance: J^{-1} R, over what is left of Newton's
/// contraction; without J the residual, by what contraction and steps of the iteration tell. Before
/// either is known, an iteration must be made.
bool CouplingConvergence::error_is_small(const CouplingResidual& residual, Vec f) {
  error_ = residual.ratio;
  if (!(residual.ratio < 1.0)) {
    return false;
  }
  if (residual.ratio == 0.0) {
    return true;
  }
  if (!jacobian_.known()) {
    error_ = jacobian_.serves_solver() ? infinite : residual.ratio * contraction_.amplification();
    return error_ < 1.0;
  }
  const double left = 1.0 - std::min(jacobian_.contraction(), 0.9);
  const double worst_entry = residual.scaled * residual.spread / left;
  if (!constraints_.any_indirect() && worst_entry < 1.0 && worst_entry * jacobian_.bound() < 1.0) {
    return true;
  }
  Vec e = jacobian_.error(f);
  error_ = e != nullptr ? error_of_unknowns(e) / left : infinite;
  return error_ < 1.0 && !(constraints_.any_indirect() && unknowns_are_off(e));
}

const CouplingResidual& CouplingConvergence::measure_guess(const Remarks& remarks) {
  guess_is_good_ = false;
  subsystems_.deadline().corrected();
  evaluation_.write_residual(unknowns_.residual());
  first_ = measure(unknowns_.residual(), remarks);
  return first_;
}

bool CouplingConvergence::judge_guess() {
  guess_is_good_ = error_is_small(first_, unknowns_.residual());
  if (first_.ratio >= 1.0 && terms_.possible()) {
    learn_terms();
    first_ = measure(unknowns_.residual());
    guess_is_good_ = error_is_small(first_, unknowns_.residual());
  }
  return guess_is_good_;
}

/// What cannot be evaluated is no result, whatever the time.
bool CouplingConvergence::ends_here(int corrections, const CouplingResidual& residual) const {
  return residual.late && std::isfinite(residual.ratio) &&
         subsystems_.deadline().counts_after(corrections);
}

CouplingConvergence::Verdict CouplingConvergence::judge(PetscInt it, Vec x, Vec f) {
  if (it == 0) {
    progress_.begin(first_.ratio, ReadEntries(x).all(), ReadEntries(f).all());
    contraction_.begin(first_.ratio);
    return verdict_ = guess_is_good_         ? Verdict::converged
                      : ends_here(0, first_) ? Verdict::out_of_time
                                             : Verdict::going_on;
  }
  subsystems_.deadline().corrected();
  const CouplingResidual residual = measure(f);
  double steps[2] = {0.0, 0.0};
  bool stopped = false;
  {
    const ReadEntries v(x), r(f);
    measure_steps(v.all(), r.all(), steps);
    contraction_.add(residual.ratio, steps[0], steps[1]);
    jacobian_.contracts(jacobian_.serves_solver() ? contraction_.last() : 0.0);
    const bool fresh = jacobian_.serves_solver() && jacobian_.is_new();
    stopped = progress_.has_stopped(static_cast<int>(it), residual.ratio, fresh, v.all());
    progress_.remember(v.all(), r.all());
  }
  if (error_is_small(residual, f)) {
    return verdict_ = Verdict::converged;
  }
  if (stopped && noise_ratio(f) < 1.0) return verdict_ = Verdict::noise;
  return verdict_ =
             ends_here(static_cast<int>(it), residual) ? Verdict::out_of_time : Verdict::going_on;
}

CouplingConvergence::Verdict CouplingConvergence::conclude(bool stuck, CouplingReport& report) {
  Vec f = unknowns_.residual();
  const CouplingResidual last = measure(f);
  report.residual = last.ratio;
  failed_ = last.failed;
  if (verdict_ == Verdict::going_on) {
    const bool serves = jacobian_.is_new() || jacobian_.contraction() < 0.5 ||
                        (contraction_.rate() > 0.0 && contraction_.rate() < 0.5);
    if (error_is_small(last, f)) {
      verdict_ = Verdict::converged;
    } else if (stuck && serves && noise_ratio(f) < 1.0) {
      verdict_ = Verdict::noise;
    }
  }
  if (verdict_ == Verdict::converged && !jacobian_.known()) {
    contraction_.remember(attempt_.h());
  }
  return verdict_;
}

}  // namespace concord

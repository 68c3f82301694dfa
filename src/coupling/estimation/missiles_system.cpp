#include "coupling/estimation/missiles_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/problem/rank_memory.hpp"
#include "signal/sample_parts.hpp"
#include "support/agreement.hpp"
#include "support/vec_entries.hpp"

namespace concord {
namespace {

/// Corrections of curved predictions: each makes the error smaller by a factor of order h, so that
/// two are the rule, for quintic inputs three.
constexpr int most_corrections = 8;

/// Change of the inputs, relative to their sizes, that needs no further correction: below the error
/// of the prediction for cubic inputs, and for quintic ones.
constexpr double close_enough(std::size_t parts) { return parts < 3 ? 1e-9 : 1e-12; }

bool finite(std::span<const Sample> samples) {
  return std::all_of(samples.begin(), samples.end(), [](const Sample& sample) {
    return std::isfinite(sample.value) && std::isfinite(sample.derivative) &&
           std::isfinite(sample.curvature);
  });
}

}  // namespace

MissilesSystem::MissilesSystem(RankNetwork& subsystems, Estimators& estimators, const Hold& hold,
                               const Tolerance& tolerance)
    : subsystems_(subsystems),
      estimators_(estimators),
      parts_(static_cast<std::size_t>(hold.estimated_parts())),
      constraints_(subsystems),
      scales_(subsystems, constraints_, tolerance, hold.estimated_parts()),
      gains_(subsystems, hold.estimated_parts()),
      operator_(subsystems, gains_, SolverOptions{"missiles_", 1e-12}),
      fed_(subsystems.n_inputs()) {
  petsc(MatCreateVecs(operator_.matrix(), unknown_.out(), right_side_.out()));
  petsc(VecDuplicate(unknown_, scale_.out()));
  petsc(VecDuplicate(unknown_, residual_scale_.out()));
}

bool MissilesSystem::serves(Estimators::State state, const CommunicationPoint& point) const {
  return state == Estimators::State::same_gains && assembled_ && gains_taken_ &&
         !estimators_.curved() && finite(estimators_.free_outputs()) &&
         !scales_.outdated(point.inputs);
}

/// Gains that have changed, and whether all is finite and the scales fit.
Estimators::State MissilesSystem::take_gains(Estimators::State state,
                                             const CommunicationPoint& point) {
  if (state == Estimators::State::failed || !finite(estimators_.free_outputs())) {
    gains_taken_ = false;
    return Estimators::State::failed;
  }
  if (!gains_taken_ || state == Estimators::State::new_gains) {
    estimators_.copy_gains(gains_);
    gains_taken_ = gains_.finite();
    return gains_taken_ ? Estimators::State::new_gains : Estimators::State::failed;
  }
  return scales_.outdated(point.inputs) ? Estimators::State::new_gains : state;
}

void MissilesSystem::assemble() {
  operator_.assemble(gains_, residual_scale_, scale_);
  contents_ = operator_.contents();
}

void MissilesSystem::assemble_afresh(const CommunicationPoint& point, double h) {
  subsystems_.exchange(estimators_.free_outputs(), fed_);
  scales_.take(point.inputs, fed_, h);
  take_scales();
  assemble();
  assembled_ = true;
}

void MissilesSystem::take_scales() {
  copy(scales_.unknown(), scale_);
  copy(scales_.residual(), residual_scale_);
}

void MissilesSystem::io(Archive& archive) {
  const bool changed = archive.changes(
      [&] { CONCORD_MEMBERS(archive, scales_, gains_, operator_, assembled_, contents_); });
  pass_own(archive, subsystems_.n_own(), gains_taken_);
  if (agree_on_largest(subsystems_.comm(), changed ? 1 : 0) == 0 || !assembled_) {
    return;
  }
  take_scales();
  if (contents_ == operator_.contents()) {
    operator_.assemble_again(gains_, residual_scale_, scale_);
  }
}

/// Gains act on the change of the value: the unknowns are (u - u_N, u', ...).
void MissilesSystem::write_right_side(const CommunicationPoint& point) {
  const auto free = estimators_.free_outputs();
  subsystems_.exchange(free, fed_);
  const auto scale = scales_.residual();
  const auto& connected = subsystems_.connected_inputs();
  WriteEntries b(right_side_);
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample begin{point.inputs[connected[j]].value, 0.0};
    const Sample rest = constraints_.rest_of(j, begin, fed_[connected[j]], free);
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      b[row] = -(rest.*sample_parts[part]) / scale[row];
    }
  }
}

void MissilesSystem::read_solution(const CommunicationPoint& point,
                                   std::span<Sample> inputs) const {
  const auto scale = scales_.unknown();
  const auto& connected = subsystems_.connected_inputs();
  const ReadEntries v(unknown_);
  for (std::size_t j = 0; j < connected.size(); ++j) {
    Sample& input = inputs[connected[j]];
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      input.*sample_parts[part] = v[row] * scale[row];
    }
    input.value += point.inputs[connected[j]].value;
  }
}

bool MissilesSystem::solve(Estimators::State state, const MacroStep& step,
                           const CommunicationPoint& point, std::span<Sample> inputs) {
  double worst[2] = {static_cast<double>(take_gains(state, point)),
                     estimators_.curved() ? 1.0 : 0.0};
  agree_on_largest(subsystems_.comm(), worst);
  if (worst[0] == static_cast<double>(Estimators::State::failed)) {
    assembled_ = false;
    did_more_ = true;
    return false;
  }
  linear_iterations_ = 0;
  const bool outdated =
      !assembled_ || worst[0] == static_cast<double>(Estimators::State::new_gains);
  did_more_ = outdated || worst[1] > 0.0;
  if (outdated) {
    assemble_afresh(point, step.size());
  }
  if (!solve_linear(point, inputs)) {
    return false;
  }
  if (worst[1] > 0.0) {
    follow_curves(point, inputs);
  }
  return true;
}

bool MissilesSystem::solve_again(const CommunicationPoint& point, std::span<Sample> inputs) {
  linear_iterations_ = 0;
  return solve_linear(point, inputs);
}

/// With the matrix as it was assembled, whatever it has served meanwhile.
bool MissilesSystem::solve_linear(const CommunicationPoint& point, std::span<Sample> inputs) {
  if (operator_.contents() != contents_) {
    assemble();
  }
  write_right_side(point);
  const bool solved = operator_.solve(right_side_, unknown_);
  linear_iterations_ += operator_.iterations();
  read_solution(point, inputs);
  return solved;
}

/// Newton's method with the matrix of the tangents. Where it goes astray, the tangents' inputs are
/// what is left.
void MissilesSystem::follow_curves(const CommunicationPoint& point, std::span<Sample> inputs) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  tangent_.assign(inputs.begin(), inputs.end());
  double first = unknown, last = unknown;
  for (int k = 0; k < most_corrections; ++k) {
    before_.assign(inputs.begin(), inputs.end());
    const bool possible = estimators_.correct(inputs);
    const bool solved = solve_linear(point, inputs);
    const double change = agree_on_largest(
        subsystems_.comm(), possible && solved ? change_since(before_, inputs) : unknown);
    if (!(change < 0.5 * first)) {
      std::copy(tangent_.begin(), tangent_.end(), inputs.begin());
      estimators_.return_to_tangents();
      return;
    }
    first = k == 0 ? change : first;
    const double contraction = k == 0 ? 1.0 : std::min(1.0, change / last);
    if (contraction * change <= close_enough(parts_)) {
      return;
    }
    last = change;
  }
}

/// The largest on this rank, relative to sizes; slopes counted with the macro-step.
double MissilesSystem::change_since(std::span<const Sample> before,
                                    std::span<const Sample> now) const {
  double largest = 0.0;
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      const double change = std::abs(now[i].*sample_parts[part] - before[i].*sample_parts[part]) /
                            scales_.unknown()[row];
      largest = std::isfinite(change) ? std::max(largest, change)
                                      : std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

}  // namespace concord

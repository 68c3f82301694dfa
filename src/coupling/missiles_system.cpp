#include "coupling/missiles_system.hpp"

#include <cmath>

#include "coupling/linear_solver_defaults.hpp"
#include "support/agreement.hpp"
#include "support/log_events.hpp"

namespace concord {
namespace {

constexpr int parts = 2;

std::vector<std::size_t> within(std::span<const std::size_t> local, std::size_t first) {
  std::vector<std::size_t> own(local.begin(), local.end());
  for (auto& index : own) {
    index -= first;
  }
  return own;
}

}  // namespace

MissilesSystem::MissilesSystem(RankNetwork& subsystems, const EstimatorSettings& settings)
    : subsystems_(subsystems),
      gains_(subsystems, parts),
      operator_(subsystems, gains_),
      scale_values_(subsystems.connected_inputs().size() * parts, 1.0),
      free_outputs_(subsystems.n_outputs()),
      fed_(subsystems.n_inputs()) {
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    estimators_.emplace_back(subsystems.own(k),
                             within(gains_.inputs(k), subsystems.inputs_of(k).first), settings);
  }
  petsc(MatCreateVecs(operator_.matrix(), unknown_.out(), right_side_.out()));
  petsc(VecDuplicate(unknown_, scale_.out()));
  petsc(KSPCreate(subsystems.comm(), ksp_.out()));
  petsc(KSPSetOptionsPrefix(ksp_, "missiles_"));
  petsc(KSPSetOperators(ksp_, operator_.matrix(), operator_.matrix()));
  petsc(KSPSetTolerances(ksp_, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  choose_direct_solver(ksp_, operator_.matrix());
  petsc(KSPSetFromOptions(ksp_));
}

/// True where a K of this rank has changed; failed_ where a subsystem could not be linearised.
bool MissilesSystem::prepare(const MacroStep& step, const CommunicationPoint& point) {
  bool changed = !assembled_;
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    const IndexRange in = subsystems_.inputs_of(k);
    const IndexRange out = subsystems_.outputs_of(k);
    Outcome outcome = Outcome::ok;
    changed |= estimators_[k].prepare(step.begin, step.size(),
                                      std::span(point.inputs).subspan(in.first, in.size()),
                                      std::span(point.outputs).subspan(out.first, out.size()),
                                      point.slopes_known, outcome);
    const auto free = estimators_[k].free_response();
    std::copy(free.begin(), free.end(),
              free_outputs_.begin() + static_cast<std::ptrdiff_t>(out.first));
    if (outcome != Outcome::ok) [[unlikely]] {
      failed_ = true;
    }
  }
  return changed;
}

void MissilesSystem::assemble(const CommunicationPoint& point, double h) {
  const auto& connected = subsystems_.connected_inputs();
  PetscScalar* s = nullptr;
  petsc(VecGetArrayWrite(scale_, &s));
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double value = std::abs(point.inputs[connected[j]].value);
    scale_values_[2 * j] = value > 0.0 ? value : 1.0;
    scale_values_[2 * j + 1] = scale_values_[2 * j] / h;
  }
  std::copy(scale_values_.begin(), scale_values_.end(), s);
  petsc(VecRestoreArrayWrite(scale_, &s));
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    for (std::size_t row = 0; row < 2 * subsystems_.outputs_of(k).size(); ++row) {
      for (std::size_t column = 0; column < gains_.columns(k); ++column) {
        gains_.at(k, row, column) = estimators_[k].gain(row / 2, row % 2, column / 2, column % 2);
      }
    }
  }
  operator_.assemble(gains_, scale_);
  assembled_ = true;
}

bool MissilesSystem::solve(const MacroStep& step, const CommunicationPoint& point,
                           std::span<Sample> inputs) {
  failed_ = false;
  const bool changed = prepare(step, point);
  enum State { same = 0, new_gains = 1, failed = 2 };
  const int state =
      agree_on_largest(subsystems_.comm(), failed_ ? failed : (changed ? new_gains : same));
  if (state == failed) {
    return false;
  }
  if (state == new_gains) {
    assemble(point, step.size());
  }
  // Gains act on the change of the value: unknowns are (u - u_N, u').
  subsystems_.exchange(free_outputs_, fed_);
  const auto& connected = subsystems_.connected_inputs();
  PetscScalar* b = nullptr;
  petsc(VecGetArrayWrite(right_side_, &b));
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample& fed = fed_[connected[j]];
    b[2 * j] = (fed.value - point.inputs[connected[j]].value) / scale_values_[2 * j];
    b[2 * j + 1] = fed.derivative / scale_values_[2 * j + 1];
  }
  petsc(VecRestoreArrayWrite(right_side_, &b));
  petsc(KSPSolve(ksp_, right_side_, unknown_));
  petsc(KSPGetIterationNumber(ksp_, &linear_iterations_));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc(KSPGetConvergedReason(ksp_, &reason));
  const PetscScalar* v = nullptr;
  petsc(VecGetArrayRead(unknown_, &v));
  for (std::size_t j = 0; j < connected.size(); ++j) {
    inputs[connected[j]] = {point.inputs[connected[j]].value + v[2 * j] * scale_values_[2 * j],
                            v[2 * j + 1] * scale_values_[2 * j + 1]};
  }
  petsc(VecRestoreArrayRead(unknown_, &v));
  return reason > 0;
}

void MissilesSystem::predict(std::size_t k, std::span<const Sample> end,
                             std::span<Sample> outputs) const {
  const IndexRange in = subsystems_.inputs_of(k);
  const IndexRange out = subsystems_.outputs_of(k);
  estimators_[k].predict(end.subspan(in.first, in.size()), outputs.subspan(out.first, out.size()));
}

void MissilesSystem::predict(std::span<const Sample> end, std::span<Sample> outputs) const {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    predict(k, end, outputs);
  }
}

void MissilesSystem::observe(const CommunicationPoint& point) {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    const IndexRange in = subsystems_.inputs_of(k);
    const IndexRange out = subsystems_.outputs_of(k);
    estimators_[k].observe(std::span(point.inputs).subspan(in.first, in.size()),
                           std::span(point.outputs).subspan(out.first, out.size()));
  }
}

void MissilesSystem::forget() {
  for (auto& estimator : estimators_) {
    estimator.forget();
  }
}

void MissilesSystem::view() const {
  petsc(KSPView(ksp_, PETSC_VIEWER_STDOUT_(subsystems_.comm())));
}

}  // namespace concord

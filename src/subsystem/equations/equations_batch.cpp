#include "subsystem/equations/equations_batch.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/scratch.hpp"

namespace concord {

EquationsBatch::EquationsBatch(std::vector<EquationsModel*> members)
    : members_(std::move(members)),
      f_(members_.front()->f(), members_.size()),
      g_(members_.front()->g(), members_.size()),
      points_(point_size()) {
  for (std::size_t i = 0; i < size(); ++i)
    if (!refresh(i)) throw std::logic_error("equations of different programs are no batch");
}

bool EquationsBatch::refresh(std::size_t member) {
  const EquationsModel& model = *members_[member];
  if (!f_.set(member, model.f()) || !g_.set(member, model.g())) return false;
  put_held(points_, member);
  if (curvatures_ && !set_curvatures(member)) curvatures_.reset();
  return true;
}

void EquationsBatch::put_held(std::span<double> points, std::size_t member) const {
  std::size_t row = members_[member]->places().moving();
  for (const double value : members_[member]->held()) points[row++ * size() + member] = value;
}

void EquationsBatch::move_to(std::span<double> points, double t, std::span<const double> x,
                             std::span<const double> u) const {
  const auto next = std::fill_n(points.begin(), size(), t);
  std::copy(u.begin(), u.end(), std::copy(x.begin(), x.end(), next));
}

void EquationsBatch::derivatives(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<double> dxdt) {
  move_to(points_, t, x, u);
  f_.evaluate(points_, dxdt);
}

void EquationsBatch::outputs(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> y) {
  move_to(points_, t, x, u);
  g_.evaluate(points_, y);
}

void EquationsBatch::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                   const Motion& motion, std::span<double> dydt) {
  move_to(points_, t, x, u);
  Scratch scratch;
  const std::span<double> directions = scratch.numbers(points_.size());
  std::ranges::fill(directions, 0.0);
  move_to(directions, 1.0, motion.dxdt, motion.dudt);
  g_.slopes(points_, directions, dydt);
}

std::span<const double> EquationsBatch::f_partials(double t, std::span<const double> x,
                                                   std::span<const double> u) {
  move_to(points_, t, x, u);
  return f_.differentiate(points_);
}

std::span<const double> EquationsBatch::g_partials(double t, std::span<const double> x,
                                                   std::span<const double> u) {
  move_to(points_, t, x, u);
  return g_.differentiate(points_);
}

bool EquationsBatch::output_curvatures(double t, std::span<const double> x,
                                       std::span<const double> u, const InputMotion& motion,
                                       std::span<double> d2ydt2) {
  if (!curvatures_ && !derive_curvatures()) return false;
  move_to(curvature_points_, t, x, u);
  const auto next = curvature_points_.begin() + static_cast<std::ptrdiff_t>(point_size());
  std::copy(motion.d2udt2.begin(), motion.d2udt2.end(),
            std::copy(motion.dudt.begin(), motion.dudt.end(), next));
  curvatures_->run(curvature_points_, d2ydt2);
  return true;
}

bool EquationsBatch::derive_curvatures() {
  curvatures_.emplace(members_.front()->curvatures().program(), size());
  curvature_points_.resize(curvatures_->program()->variable_count() * size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (set_curvatures(i)) continue;
    curvatures_.reset();
    return false;
  }
  return true;
}

/// False where the member's program is another one.
bool EquationsBatch::set_curvatures(std::size_t member) {
  const Evaluation& own = members_[member]->curvatures();
  if (own.program() != curvatures_->program()) return false;
  curvatures_->set_constants(member, own.constants());
  put_held(curvature_points_, member);
  return true;
}

}  // namespace concord

#include "coupling/estimation/estimator.hpp"

#include <algorithm>

#include "coupling/estimation/small_product.hpp"
#include "signal/end_curvature.hpp"

namespace concord {

Estimator::Estimator(Subsystem& subsystem, std::vector<std::size_t> connected,
                     std::vector<bool> afresh, const EstimatorSettings& settings, int parts)
    : subsystem_(subsystem),
      follows_curves_(subsystem.description().capabilities.state_outputs &&
                      settings.response != Response::linear_implicit),
      local_(subsystem, settings.response == Response::expm),
      ends_(std::move(connected), std::move(afresh), subsystem.description().outputs.size(),
            settings.response, parts),
      defects_(settings.defect, subsystem.description().outputs.size(),
               local_.knows_derivatives()) {
  const std::size_t outputs = subsystem.description().outputs.size();
  free_.resize(outputs);
}

/// All calls share it.
Estimator::Reached& Estimator::reached() {
  static Reached reached;
  return reached;
}

bool Estimator::prepare(const MacroStep& step, std::span<const Sample> begin,
                        std::span<const Sample> outputs, bool slopes_known, EndGains::Pool& pool,
                        Outcome& outcome) {
  step_ = step;
  outcome = Outcome::ok;
  bool changed = local_.renew(begin, outcome);
  curved_ = follows_curves_ && !local_.holds_everywhere();
  if (changed || !ends_.serves(step.size(), slopes_known)) {
    ends_.compute_once(local_, step.size(), slopes_known, pool);
    changed = true;
  }
  if (ends_.parts() > 2) begin_.assign(outputs.begin(), outputs.end());
  find_free_response(begin, outputs);
  add_defect();
  if (curved_) {
    tangent_ = free_;
  }
  corrected_ = false;
  return changed;
}

void Estimator::find_free_response(std::span<const Sample> begin, std::span<const Sample> outputs) {
  const auto f_t = local_.f_t();
  const auto g_t = local_.g_t();
  ramp_ = ends_.step() * f_t;
  ends_.begin(begin);
  ends_.free_states(local_.f(), ramp_, xi_);
  Eigen::VectorXd& f_end = reached().f;
  f_end = local_.f() + ramp_;
  local_.a().with([&](const auto& a) { add_product(a, xi_, f_end); });
  local_.c().with([&](const auto& c) {
    for (std::size_t o = 0; o < free_.size(); ++o) {
      const auto row = static_cast<Eigen::Index>(o);
      free_[o].value = outputs[o].value + c.row(row).dot(xi_) + ends_.step() * g_t[row];
      free_[o].derivative = c.row(row).dot(f_end) + g_t[row];
    }
  });
  if (ends_.parts() > 2) {
    Eigen::VectorXd& bend = reached().bend;
    bend = f_t;
    local_.a().with([&](const auto& a) { add_product(a, f_end, bend); });
    local_.c().with([&](const auto& c) {
      for (std::size_t o = 0; o < free_.size(); ++o) {
        free_[o].curvature = c.row(static_cast<Eigen::Index>(o)).dot(bend);
      }
    });
  }
}

void Estimator::add_defect() {
  if (defects_.expect(ends_.step(), curved_)) {
    add_expected(free_);
  } else {
    curve_stiff(free_);
  }
}

void Estimator::curve_stiff(std::span<Sample> outputs) const {
  if (ends_.parts() < 3) {
    return;
  }
  const auto stiff = ends_.stiff();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (stiff[o] != 0) {
      outputs[o].curvature = EndCurvature::of(begin_[o], outputs[o], ends_.step());
    }
  }
}

/// The defect.
void Estimator::add_expected(std::span<Sample> outputs) const {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o].value += defects_.expected()[o].value;
    outputs[o].derivative += defects_.expected()[o].derivative;
    outputs[o].curvature += defects_.expected()[o].curvature;
  }
  curve_stiff(outputs);
}

void Estimator::predict(std::span<const Sample> end, std::span<Sample> outputs) {
  if (curved_ && reach(end, outputs)) {
    add_expected(outputs);
    return;
  }
  std::copy(free_.begin(), free_.end(), outputs.begin());
  ends_.add_to_outputs(end, 1.0, outputs);
}

bool Estimator::correct(std::span<const Sample> end) {
  if (!curved_) {
    return true;
  }
  std::vector<Sample>& outputs = reached().outputs;
  outputs.resize(free_.size());
  if (!reach(end, outputs)) {
    return_to_tangent();
    return false;
  }
  ends_.add_to_outputs(end, -1.0, outputs);
  std::copy(outputs.begin(), outputs.end(), free_.begin());
  add_expected(free_);
  corrected_ = true;
  return true;
}

void Estimator::match(std::span<const Sample> end, std::span<const Sample> outputs) {
  std::copy(outputs.begin(), outputs.end(), free_.begin());
  ends_.add_to_outputs(end, -1.0, free_);
}

void Estimator::return_to_tangent() {
  if (curved_) {
    free_ = tangent_;
  }
  corrected_ = false;
}

/// Outputs where the inputs lead, defect aside. False where f or g fails there or isn't finite.
bool Estimator::reach(std::span<const Sample> end, std::span<Sample> outputs) {
  Eigen::VectorXd& x = reached().x;
  x = xi_;
  ends_.add_to_states(end, x);
  reached().rho = -local_.f() - ramp_;
  local_.a().with([&](const auto& a) { reached().rho.noalias() -= a * x; });
  x += local_.x();
  const StatePoint point{step_.end,
                         ends_.step(),
                         {x.data(), static_cast<std::size_t>(x.size())},
                         end,
                         ends_.parts() > 2};
  return bend(point) && subsystem_.outputs_at(point, outputs) == Outcome::ok &&
         (ends_.parts() < 3 || reach_curvatures(point, outputs));
}

bool Estimator::reach_curvatures(const StatePoint& point, std::span<Sample> outputs) {
  auto& curvatures = reached().curvatures;
  curvatures.resize(outputs.size());
  if (subsystem_.output_curvatures_at(point, curvatures) != Outcome::ok) {
    return false;
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o].curvature = curvatures[o];
  }
  return true;
}

/// x^ += 2 h phi_3(hA) rho.
bool Estimator::bend(const StatePoint& point) {
  auto& [x, f, rho, bent, outputs, curvatures] = reached();
  if (!local_.knows_derivatives() || x.size() == 0) {
    return true;
  }
  f.resize(x.size());
  if (subsystem_.derivatives_at(point, {f.data(), static_cast<std::size_t>(f.size())}) !=
      Outcome::ok) {
    return false;
  }
  rho += f;
  for (Eigen::Index i = 0; i < local_.u().size(); ++i) {
    const double change = point.inputs[static_cast<std::size_t>(i)].value - local_.u()[i];
    if (change != 0.0) rho -= local_.b().column(i) * change;
  }
  ends_.bend(rho, bent);
  x += bent;
  return x.allFinite();
}

void Estimator::output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const {
  local_.output_terms(inputs, ends_.parts() > 2, outputs);
  ends_.add_cancelled(inputs, outputs);
}

void Estimator::observe(std::span<const Sample> end, std::span<const Sample> outputs) {
  if (!corrected_) {
    correct(end);
  }
  std::vector<Sample>& predicted = reached().outputs;
  predicted.resize(free_.size());
  std::copy(free_.begin(), free_.end(), predicted.begin());
  ends_.add_to_outputs(end, 1.0, predicted);
  defects_.learn(ends_.step(), corrected_, predicted, outputs);
}

void Estimator::restart() {
  forget();
  local_.forget();
  ends_.forget();
}

}  // namespace concord

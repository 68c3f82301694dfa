// What errors of states become at events, whose instants they move.
#include <algorithm>
#include <cmath>

#include "coupling/estimates/error_propagation.hpp"
#include "support/agreement.hpp"

namespace concord {

double ErrorPropagation::take_errors(std::size_t k, TellsGrazes& teller,
                                     std::span<const Sample> inputs) const {
  const Part& part = parts_[k];
  const std::size_t first = subsystems_.inputs_of(k).first;
  std::vector<double> errors(inputs.size());
  const auto put = [&](std::span<const std::size_t> all, IndexRange own, const auto& u) {
    for (std::size_t c = own.first; c < own.last; ++c)
      errors[all[c] - first] = u[static_cast<Eigen::Index>(c - own.first)];
  };
  put(subsystems_.connected_inputs(), part.connected, part.u);
  put(subsystems_.held_inputs(), part.held, part.u_held);
  const std::span<const double> of_states(part.x.data(), static_cast<std::size_t>(part.x.size()));
  double result = 0.0;
  subsystems_.asking(k, [&] { result = teller.take_errors(inputs, {of_states, errors}); });
  return std::isfinite(result) ? result : 0.0;
}

/// f at the point, with its inputs; false where the subsystem cannot tell.
bool ErrorPropagation::find_slopes(std::size_t k, std::span<const Sample> inputs,
                                   std::vector<double>& slopes) {
  const Capabilities& has = subsystems_.own(k).description().capabilities;
  slopes.resize(subsystems_.states_of(k).size());
  if (slopes.empty() || !has.states || !has.state_derivatives) return false;
  Outcome outcome = Outcome::failed;
  const auto thrown = subsystems_.at_point(
      k, [&] { outcome = subsystems_.own(k).state_derivatives(inputs, slopes); });
  return !thrown && outcome == Outcome::ok;
}

void ErrorPropagation::begin_instant(const CommunicationPoint& point) {
  double later_earlier[2] = {0.0, 0.0};
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    auto* const teller = dynamic_cast<TellsGrazes*>(&subsystems_.own(k));
    if (teller == nullptr) continue;
    const IndexRange range = subsystems_.inputs_of(k);
    const double error =
        take_errors(k, *teller, std::span(point.inputs).subspan(range.first, range.size()));
    later_earlier[0] = std::max(later_earlier[0], error);
    later_earlier[1] = std::max(later_earlier[1], -error);
  }
  agree_on_largest(subsystems_.comm(), later_earlier);
  const auto [later, earlier] = later_earlier;
  instant_error_ = later >= earlier ? later : -earlier;
  if (instant_error_ != 0.0) note_slopes(point);
}

/// f- with the inputs that led here: mostly what integrators have evaluated last.
void ErrorPropagation::note_slopes(const CommunicationPoint& point) {
  std::vector<Sample> inputs;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.restarts_before = subsystems_.touched().restarts(k);
    const IndexRange range = subsystems_.inputs_of(k);
    inputs.clear();
    for (std::size_t i = range.first; i < range.last; ++i)
      inputs.push_back(point.polynomials[i].at(point.last_step));
    const bool known = find_slopes(k, inputs, part.f_before);
    const auto x = known ? subsystems_.own(k).states() : std::span<const double>();
    part.x_before.assign(x.begin(), x.end());
  }
}

void ErrorPropagation::end_instant(const CommunicationPoint& point) {
  std::vector<double> f;
  for (std::size_t k = 0; instant_error_ != 0.0 && k < parts_.size(); ++k) {
    Part& part = parts_[k];
    const IndexRange inputs = subsystems_.inputs_of(k);
    if (part.x_before.empty() || part.restarts_before == subsystems_.touched().restarts(k) ||
        !find_slopes(k, std::span(point.inputs).subspan(inputs.first, inputs.size()), f)) {
      continue;
    }
    const auto x = subsystems_.own(k).states();
    for (std::size_t i = 0; i < f.size(); ++i) {
      const bool jumped = x[i] != part.x_before[i] && part.x_before[i] != 0.0;
      const double factor = jumped ? x[i] / part.x_before[i] : 1.0;
      double& error = part.x[static_cast<Eigen::Index>(i)];
      error = factor * (error + part.f_before[i] * instant_error_) - f[i] * instant_error_;
    }
  }
  instant_error_ = 0.0;
}

}  // namespace concord

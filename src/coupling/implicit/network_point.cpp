#include "coupling/implicit/network_point.hpp"

#include <algorithm>

namespace concord {

NetworkPoint::NetworkPoint(RankNetwork& subsystems)
    : subsystems_(subsystems),
      input_values_(subsystems.n_inputs()),
      input_slopes_(subsystems.n_inputs()),
      output_values_(subsystems.n_outputs()),
      output_slopes_(subsystems.n_outputs()) {}

void NetworkPoint::stand_at(double t, std::span<const double> x) {
  t_ = t;
  x_ = x;
}

void NetworkPoint::move_by(std::span<const double> dxdt) {
  dxdt_ = dxdt;
  slopes_given_ = true;
}

void NetworkPoint::take(std::span<const Sample> inputs, Wanted wanted) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_values_[i] = inputs[i].value;
    if (wanted == Wanted::values_and_derivatives) input_slopes_[i] = inputs[i].derivative;
  }
}

std::span<const double> NetworkPoint::part(std::span<const double> of_states, std::size_t k) const {
  const IndexRange states = subsystems_.states_of(k);
  return of_states.subspan(states.first, states.size());
}

std::span<const double> NetworkPoint::inputs_of(std::size_t k) const {
  const IndexRange in = subsystems_.inputs_of(k);
  return std::span(input_values_).subspan(in.first, in.size());
}

Motion NetworkPoint::motion_of(std::size_t k) const {
  const IndexRange in = subsystems_.inputs_of(k);
  return {part(dxdt_, k), std::span(input_slopes_).subspan(in.first, in.size())};
}

bool NetworkPoint::stands_for_constraint(std::size_t k) const {
  return subsystems_.own(k).description().constraint.has_value();
}

std::string NetworkPoint::named(std::size_t k, const std::string& what) const {
  return "subsystem '" + subsystems_.own(k).description().name + "': " + what;
}

/// With the inputs that were taken.
void NetworkPoint::evaluate(std::size_t k, Wanted wanted, std::span<double> y,
                            std::span<double> dydt) {
  naming(k, [&](OdeModel& equations) {
    equations.outputs(t_, states_of(k), inputs_of(k), y);
    if (wanted == Wanted::values_and_derivatives) {
      slopes_given_ = equations.output_slopes(t_, states_of(k), inputs_of(k), motion_of(k), dydt) &&
                      slopes_given_;
    }
  });
}

Outcome NetworkPoint::outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                              std::span<Sample> outputs) {
  if (stands_for_constraint(k)) {
    return subsystems_.point_outputs(k, inputs, wanted, outputs);
  }
  const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
  for (std::size_t i = in.first; i < in.last; ++i) {
    input_values_[i] = inputs[i].value;
    input_slopes_[i] = inputs[i].derivative;
  }
  const auto y = std::span(output_values_).subspan(out.first, out.size());
  const auto dydt = std::span(output_slopes_).subspan(out.first, out.size());
  std::fill(dydt.begin(), dydt.end(), 0.0);
  try {
    evaluate(k, wanted, y, dydt);
  } catch (const RecoverableFailure&) {
    return Outcome::failed;
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    outputs[out.first + i] = {y[i], dydt[i]};
  }
  return Outcome::ok;
}

bool NetworkPoint::feedthrough(std::size_t k, std::span<const Sample> inputs,
                               std::vector<double>& g_u) {
  if (stands_for_constraint(k)) {
    return subsystems_.feedthrough(k, inputs, g_u);
  }
  const IndexRange in = subsystems_.inputs_of(k);
  const std::size_t n_st = subsystems_.states_of(k).size();
  const std::size_t n_out = subsystems_.outputs_of(k).size();
  for (std::size_t i = in.first; i < in.last; ++i) {
    input_values_[i] = inputs[i].value;
  }
  jacobians_.resize((n_st + n_out) * n_st + n_st * in.size());
  g_u.resize(n_out * in.size());
  const std::span<double> rest(jacobians_);
  const Jacobians all{rest.first(n_st * n_st), rest.subspan(n_st * n_st, n_st * in.size()),
                      rest.last(n_out * n_st), g_u};
  bool given = false;
  naming(k, [&](OdeModel& equations) {
    given = equations.jacobians(t_, states_of(k), inputs_of(k), all);
  });
  return given;
}

}  // namespace concord

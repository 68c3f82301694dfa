#include "coupling/implicit/network_derivatives.hpp"

namespace concord {

NetworkDerivatives::NetworkDerivatives(RankNetwork& subsystems)
    : subsystems_(subsystems),
      elimination_(subsystems),
      own_(subsystems.n_own()),
      input_slopes_(subsystems.n_inputs()) {
  for (std::size_t k = 0; k < own_.size(); ++k) {
    const std::size_t n_st = subsystems.states_of(k).size(), n_in = subsystems.inputs_of(k).size();
    const std::size_t n_out = subsystems.outputs_of(k).size();
    own_[k].f_x.resize(n_st * n_st);
    own_[k].f_u.resize(n_st * n_in);
    own_[k].g_x.resize(n_out * n_st);
    own_[k].g_u.resize(n_out * n_in);
    of_outputs_.push_back({own_[k].g_x, own_[k].g_u});
  }
}

bool NetworkDerivatives::derive(std::size_t k, const NetworkPoint& point,
                                std::span<const Sample> inputs) {
  Own& own = own_[k];
  if (point.stands_for_constraint(k)) {
    return subsystems_.feedthrough(k, inputs, own.g_u);
  }
  return subsystems_.own(k).equations()->jacobians(
      point.time(), point.states_of(k), point.inputs_of(k), {own.f_x, own.f_u, own.g_x, own.g_u});
}

bool NetworkDerivatives::find(const NetworkPoint& point, std::span<const Sample> inputs,
                              const Jacobians& result) {
  for (std::size_t k = 0; k < own_.size(); ++k) {
    if (!derive(k, point, inputs)) {
      return false;
    }
  }
  if (!elimination_.take(of_outputs_)) {
    return false;
  }
  for (std::size_t k = 0; k < own_.size(); ++k) {
    for (std::size_t j = 0; j < subsystems_.states_of(k).size(); ++j) {
      elimination_.follow(of_outputs_, k, j, input_slopes_);
      fill_column(k, j, result);
    }
  }
  return true;
}

/// Of state j of subsystem k, with input_slopes_.
void NetworkDerivatives::fill_column(std::size_t k, std::size_t j, const Jacobians& result) const {
  const std::size_t n_st = subsystems_.n_states(), column = subsystems_.states_of(k).first + j;
  for (std::size_t l = 0; l < own_.size(); ++l) {
    const Own& own = own_[l];
    const IndexRange states = subsystems_.states_of(l), outputs = subsystems_.outputs_of(l);
    const IndexRange in = subsystems_.inputs_of(l);
    const auto entry = [&](std::span<const double> by_x, std::span<const double> by_u,
                           std::size_t row) {
      double sum = l == k ? by_x[row * states.size() + j] : 0.0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        sum += by_u[row * in.size() + i] * input_slopes_[in.first + i];
      }
      return sum;
    };
    for (std::size_t row = 0; row < states.size(); ++row) {
      result.f_x[(states.first + row) * n_st + column] = entry(own.f_x, own.f_u, row);
    }
    for (std::size_t row = 0; row < outputs.size(); ++row) {
      result.g_x[(outputs.first + row) * n_st + column] = entry(own.g_x, own.g_u, row);
    }
  }
}

}  // namespace concord

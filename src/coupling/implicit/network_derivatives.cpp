#include "coupling/implicit/network_derivatives.hpp"

#include <utility>

namespace concord {

NetworkDerivatives::NetworkDerivatives(RankNetwork& subsystems, std::vector<std::size_t> given)
    : subsystems_(subsystems),
      given_(std::move(given)),
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

bool NetworkDerivatives::take(const NetworkPoint& point, std::span<const Sample> inputs) {
  for (std::size_t k = 0; k < own_.size(); ++k) {
    if (!derive(k, point, inputs)) {
      return false;
    }
  }
  return elimination_.take(of_outputs_);
}

std::span<const double> NetworkDerivatives::by_state(std::size_t k, std::size_t j) {
  elimination_.follow(of_outputs_, k, j, input_slopes_);
  return input_slopes_;
}

std::span<const double> NetworkDerivatives::by_given(std::size_t i) {
  elimination_.follow_input(of_outputs_, given_[i], input_slopes_);
  return input_slopes_;
}

std::span<const double> NetworkDerivatives::by_outputs(std::span<const double> dy) {
  elimination_.follow_outputs(dy, input_slopes_);
  return input_slopes_;
}

void NetworkDerivatives::add_inputs(std::span<const double> du, std::span<double> f,
                                    std::span<double> g) const {
  for (std::size_t k = 0; k < own_.size(); ++k) {
    const IndexRange in = subsystems_.inputs_of(k);
    const auto add = [&](std::span<double> result, IndexRange rows, std::span<const double> by_u) {
      for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t i = 0; i < in.size(); ++i)
          result[rows.first + row] += by_u[row * in.size() + i] * du[in.first + i];
    };
    add(f, subsystems_.states_of(k), own_[k].f_u);
    add(g, subsystems_.outputs_of(k), own_[k].g_u);
  }
}

bool NetworkDerivatives::find(const NetworkPoint& point, std::span<const Sample> inputs,
                              const Jacobians& result) {
  if (!take(point, inputs)) {
    return false;
  }
  const std::size_t n_st = subsystems_.n_states();
  for (std::size_t k = 0; k < own_.size(); ++k) {
    const IndexRange states = subsystems_.states_of(k);
    for (std::size_t j = 0; j < states.size(); ++j) {
      by_state(k, j);
      fill({result.f_x, result.g_x, n_st, states.first + j},
           [&](std::size_t l, std::span<const double> by_x, std::size_t row) {
             return l == k ? by_x[row * states.size() + j] : 0.0;
           });
    }
  }
  for (std::size_t i = 0; i < given_.size(); ++i) {
    by_given(i);
    fill({result.f_u, result.g_u, given_.size(), i},
         [](std::size_t, std::span<const double>, std::size_t) { return 0.0; });
  }
  return true;
}

/// With input_slopes_; `direct`: what a row of a subsystem has without its inputs.
template <class Direct>
void NetworkDerivatives::fill(const Column& column, const Direct& direct) const {
  for (std::size_t l = 0; l < own_.size(); ++l) {
    const Own& own = own_[l];
    const IndexRange in = subsystems_.inputs_of(l);
    const auto put = [&](std::span<double> result, IndexRange rows, std::span<const double> by_x,
                         std::span<const double> by_u) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        double sum = direct(l, by_x, row);
        for (std::size_t i = 0; i < in.size(); ++i) {
          sum += by_u[row * in.size() + i] * input_slopes_[in.first + i];
        }
        result[(rows.first + row) * column.count + column.place] = sum;
      }
    };
    put(column.of_f, subsystems_.states_of(l), own.f_x, own.f_u);
    put(column.of_g, subsystems_.outputs_of(l), own.g_x, own.g_u);
  }
}

}  // namespace concord

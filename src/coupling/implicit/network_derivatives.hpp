#pragma once

#include <span>
#include <vector>

#include "coupling/implicit/network_point.hpp"
#include "coupling/points/input_elimination.hpp"

namespace concord {

/// f_x = A + B du/dx and g_x = C + D du/dx of the whole network, du/dx that of the eliminated
/// inputs; and f_u, g_u by inputs that are given from outside.
class NetworkDerivatives {
 public:
  /// `given`: local indices of inputs.
  NetworkDerivatives(RankNetwork& subsystems, std::vector<std::size_t> given);
  NetworkDerivatives(const NetworkDerivatives&) = delete;
  NetworkDerivatives& operator=(const NetworkDerivatives&) = delete;

  /// At `point`, whose inputs are `inputs`; fills `result`. False where a subsystem
  /// has no Jacobians.
  bool find(const NetworkPoint& point, std::span<const Sample> inputs, const Jacobians& result);

  /// At such a point, for what follows. False as `find`.
  bool take(const NetworkPoint& point, std::span<const Sample> inputs);
  /// du of all inputs, local, where a state moves by one, or an input that is given, or outputs by
  /// `dy`. Valid until the next call.
  std::span<const double> by_state(std::size_t k, std::size_t j);
  std::span<const double> by_given(std::size_t i);
  std::span<const double> by_outputs(std::span<const double> dy);
  /// Adds f_u du and g_u du.
  void add_inputs(std::span<const double> du, std::span<double> f, std::span<double> g) const;

 private:
  /// All of one subsystem's, row-major.
  struct Own {
    std::vector<double> f_x, f_u, g_x, g_u;
  };

  bool derive(std::size_t k, const NetworkPoint& point, std::span<const Sample> inputs);
  struct Column {
    std::span<double> of_f, of_g;  ///< row-major
    std::size_t count, place;      ///< columns, and which of them
  };
  template <class Direct>
  void fill(const Column& column, const Direct& direct) const;

  RankNetwork& subsystems_;
  std::vector<std::size_t> given_;
  InputElimination elimination_;
  std::vector<Own> own_;                                         ///< per subsystem
  std::vector<InputElimination::OutputDerivatives> of_outputs_;  ///< of own_
  std::vector<double> input_slopes_;                             ///< of the column
};

}  // namespace concord

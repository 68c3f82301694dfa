#pragma once

#include <cstddef>
#include <span>

#include "network/rank_network.hpp"

namespace concord {

/// Outputs of a rank's own subsystem at one point in time for given inputs: at the communication
/// point, or wherever `monolithic` wants them.
class PointEvaluation {
 public:
  virtual ~PointEvaluation() = default;

  /// Fills the outputs of own subsystem k; whole local arrays.
  virtual Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                          std::span<Sample> outputs) = 0;

  /// g_u of own subsystem k, row-major, where it offers that; whole local array of inputs.
  virtual bool feedthrough(std::size_t k, std::span<const Sample> inputs,
                           std::vector<double>& g_u) = 0;

  /// Whether the unknown of own constraint k answers to its equation, or is given.
  virtual bool solves_constraint(std::size_t /*k*/) const { return true; }

  /// Whether all outputs answer as they do in the network. Else what is learnt here of g_u holds
  /// nowhere else.
  virtual bool whole() const { return true; }

  virtual double time() const = 0;
};

/// At the communication point where the subsystems stand.
class CommunicationPointEvaluation : public PointEvaluation {
 public:
  explicit CommunicationPointEvaluation(RankNetwork& subsystems) : subsystems_(subsystems) {}
  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override {
    return subsystems_.point_outputs(k, inputs, wanted, outputs);
  }
  bool feedthrough(std::size_t k, std::span<const Sample> inputs,
                   std::vector<double>& g_u) override {
    return subsystems_.feedthrough(k, inputs, g_u);
  }
  double time() const override { return subsystems_.time(); }

 private:
  RankNetwork& subsystems_;
};

}  // namespace concord

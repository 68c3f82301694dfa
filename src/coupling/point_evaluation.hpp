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
};

/// At the communication point where the subsystems stand.
class CommunicationPointEvaluation : public PointEvaluation {
 public:
  explicit CommunicationPointEvaluation(RankNetwork& subsystems) : subsystems_(subsystems) {}
  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override {
    return subsystems_.point_outputs(k, inputs, wanted, outputs);
  }

 private:
  RankNetwork& subsystems_;
};

}  // namespace concord

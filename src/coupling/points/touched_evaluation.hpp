#pragma once

#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// At a communication point where something has happened: whom it has not reached keeps the outputs
/// that it has there (methods 14.4). Who is evaluated all the same, as its inputs have changed, is
/// touched from then on.
class TouchedEvaluation final : public CommunicationPointEvaluation {
 public:
  /// The outputs, with what is wanted of them, are those of the macro-step that ended at the point,
  /// or of this evaluation the last time; the inputs are P y.
  TouchedEvaluation(RankNetwork& subsystems, const CommunicationPoint& point);

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override;

 private:
  bool reached(std::size_t k, std::span<const Sample> inputs, Wanted wanted) const;

  RankNetwork& subsystems_;
  std::vector<Sample> inputs_, outputs_;  ///< as they were
};

}  // namespace concord

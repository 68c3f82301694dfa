#pragma once

#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// At a communication point where something has happened: whom it has not reached keeps the outputs
/// that it has there (methods 14.4), and whom it has reached by slopes keeps their values.
/// Evaluated anew they would differ by what the coupling has left of its inputs, far more than
/// instants are exact to, and conditions on them become true and false once more. Who is evaluated
/// all the same is touched from then on.
///
/// When nothing happens any more (Touched::values_fit), values fit their inputs: a new start whose
/// outputs are others than what its inputs give jumps within the next macro-step, however short
/// that is.
class TouchedEvaluation final : public CommunicationPointEvaluation {
 public:
  /// The outputs, with what is wanted of them, are those of the macro-step that ended at the point,
  /// or of this evaluation the last time; the inputs are P y.
  TouchedEvaluation(RankNetwork& subsystems, const CommunicationPoint& point);

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override;

 private:
  bool reached_by_values(std::size_t k, std::span<const Sample> inputs) const;
  bool reached_by_slopes(std::size_t k, std::span<const Sample> inputs, Wanted wanted) const;
  bool is_to_fit(std::size_t k, std::span<const Sample> inputs) const;
  bool is_evaluated(std::size_t k, std::span<const Sample> inputs, Wanted wanted);
  void keep_others(std::size_t k, Wanted wanted, std::span<Sample> outputs) const;

  RankNetwork& subsystems_;
  std::vector<Sample> inputs_, outputs_;  ///< as they were
};

}  // namespace concord

#pragma once

#include <span>
#include <utility>
#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// An input that nothing feeds is another from a communication point on.
struct InputChange {
  std::size_t input;  ///< local index
  double value;
};

/// What something outside has changed at the communication point: inputs that nothing feeds, and
/// what subsystems have been told already.
class OutsideChanges {
 public:
  explicit OutsideChanges(RankNetwork& subsystems) : subsystems_(subsystems) {}

  /// At the same point on every rank, with this rank's inputs.
  void add(std::span<const InputChange> inputs);

  /// Whether anything has, told once.
  bool take_any() { return std::exchange(any_, false); }

  /// Whether any input of this rank was, since the start.
  bool any_input() const { return any_input_; }

  /// Inputs that nothing feeds stay as they are in both, whatever a coupling writes.
  void apply(CommunicationPoint& point, Trial& trial);

  void io(Archive& archive);
  int memory_version() const { return 2; }

 private:
  RankNetwork& subsystems_;
  bool any_ = false, any_input_ = false;
  std::vector<InputChange> inputs_;
};

}  // namespace concord

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "subsystem/subsystem.hpp"

namespace concord {

/// Subsystems of one kind whose macro-steps are begun together, so that each `advance` that follows
/// finds most of its work done (methods 16).
class AdvanceBatch {
 public:
  virtual ~AdvanceBatch() = default;

  /// All members are about to advance over this macro-step; `inputs`: those of all subsystems.
  virtual void begin(const MacroStep& step, std::span<const Polynomial> inputs) = 0;

  /// What was begun counts no longer.
  virtual void end() = 0;
};

/// A subsystem, and where its inputs begin among those of all.
struct BatchCandidate {
  Subsystem* subsystem;
  std::size_t first_input;
};

/// Which of the candidates, by position, are begun together.
struct SubsystemBatch {
  std::unique_ptr<AdvanceBatch> steps;
  std::vector<std::size_t> members;
};

/// Batches of those that fit each other, neighbours first; some belong to none.
std::vector<SubsystemBatch> make_advance_batches(std::span<const BatchCandidate> subsystems);

}  // namespace concord

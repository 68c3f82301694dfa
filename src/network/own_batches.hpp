#pragma once

#include <span>
#include <vector>

#include "network/own_subsystems.hpp"
#include "network/rank_layout.hpp"
#include "subsystem/advance_batches.hpp"

namespace concord {

/// Of a rank's subsystems those whose macro-steps are begun together (AdvanceBatch).
class OwnBatches {
 public:
  OwnBatches(OwnSubsystems& own, const RankLayout& layout);

  /// Subsystem k is about to advance over this macro-step, and all others are, too. `inputs`: of
  /// all. What a batch costs is shared out among its members.
  void reach(std::size_t k, const MacroStep& step, std::span<const Polynomial> inputs,
             WorkClock& clock) {
    if (batch_of_[k] != none && begun_[batch_of_[k]] == 0) begin(batch_of_[k], step, inputs, clock);
  }

  /// All have advanced.
  void end();

  std::span<const SubsystemBatch> all() const { return batches_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void begin(std::size_t batch, const MacroStep& step, std::span<const Polynomial> inputs,
             WorkClock& clock);

  std::vector<SubsystemBatch> batches_;
  std::vector<std::size_t> batch_of_;
  std::vector<char> begun_;
};

}  // namespace concord

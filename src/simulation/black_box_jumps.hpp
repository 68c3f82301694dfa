#pragma once

#include <cstdint>
#include <utility>

#include "coupling/coupling.hpp"
#include "coupling/method.hpp"

namespace concord {

/// Jumps of outputs whose subsystems don't tell of them, where a method builds on what was before.
class BlackBoxJumps {
 public:
  explicit BlackBoxJumps(const Method& method) : method_(method) {}

  /// Whether a jump is what the macro-step that was tried last, up to these outputs, could not
  /// follow. Collective.
  bool explain(const RankNetwork& subsystems, std::span<const Sample> outputs, double h) const {
    return !method_.knows_only_last_values() &&
           subsystems.has_jumped(outputs, h, method_.knows_slopes());
  }

  /// In the macro-step that has led to the point, on all ranks. Collective.
  void count(RankNetwork& subsystems, const CommunicationPoint& point, double h) {
    last_ = method_.knows_only_last_values()
                ? 0
                : subsystems.count_jumps(point.outputs, h, method_.knows_slopes());
    total_ += last_;
  }

  /// Whether there were any, in the last macro-step; told once by `take_any`.
  bool any() const { return last_ > 0; }
  bool take_any() { return std::exchange(last_, 0) > 0; }

  /// So far.
  std::int64_t total() const { return total_; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, total_); }

 private:
  const Method& method_;
  int last_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace concord

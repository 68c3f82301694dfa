#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "coupling/coupling.hpp"

namespace concord {

/// States, inputs and outputs stand still between two macro-steps. Of each own subsystem the sum
/// over their bits as numbers of 64, in which no single bit can change unseen: memory that fails
/// ends the run.
class MemoryAtRest {
 public:
  explicit MemoryAtRest(RankNetwork& subsystems)
      : subsystems_(subsystems), sums_(subsystems.n_own(), 0) {}

  /// A macro-step is over. `whole`: states that the coupling holds itself, or empty.
  void begin(const CommunicationPoint& point, std::span<const double> whole);

  /// The next one begins: whatever has changed since is a failure of the subsystem.
  void require_unchanged(const CommunicationPoint& point, std::span<const double> whole);

  /// Something has been set.
  void end() { known_ = false; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, known_);
    CONCORD_MEMBERS_PER(archive, Per::subsystem, sums_);
  }

 private:
  std::int64_t sum_of(std::size_t k, const CommunicationPoint& point,
                      std::span<const double> whole) const;

  RankNetwork& subsystems_;
  bool known_ = false;
  std::vector<std::int64_t> sums_;
};

}  // namespace concord

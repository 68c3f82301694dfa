#pragma once

#include <memory>
#include <utility>

#include "subsystem/isolated/subsystem_place.hpp"

namespace concord {

/// Between a subsystem that is no more and the next one of the same model's entry, the process in
/// which both live: checkpoints and snapshots make subsystems anew, and a process takes longer to
/// start than many of them take to compute.
class KeptProcess {
 public:
  /// The process, with no subsystem in it; null where none is here or it has ended.
  std::unique_ptr<SubsystemPlace> take() {
    if (idle_ && !idle_->lives()) idle_.reset();
    return std::move(idle_);
  }
  /// One is enough.
  void keep(std::unique_ptr<SubsystemPlace> process) { idle_ = std::move(process); }

 private:
  std::unique_ptr<SubsystemPlace> idle_;
};

}  // namespace concord

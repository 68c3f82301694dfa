#include "subsystem/fmu/emulated/emulated_binary.hpp"

#include <unistd.h>

#include <utility>

namespace concord {

EmulatedBinary::EmulatedBinary(Emulation emulation, std::string prefix, bool keeps_processes)
    : emulation_(std::move(emulation)),
      prefix_(std::move(prefix)),
      keeps_processes_(keeps_processes),
      idle_(std::make_unique<EmulatedProcess>(emulation_, prefix_)),
      owner_(getpid()) {}

bool EmulatedBinary::has_idle() const { return idle_ && owner_ == getpid() && idle_->lives(); }

/// What belongs to the process that has forked this one is left to it.
void EmulatedBinary::make_idle() {
  if (owner_ != getpid()) static_cast<void>(idle_.release());
  idle_ = std::make_unique<EmulatedProcess>(emulation_, prefix_);
  owner_ = getpid();
}

bool EmulatedBinary::has(const std::string& function) {
  const auto known = has_.find(function);
  if (known != has_.end()) return known->second;
  if (!has_idle()) make_idle();
  return has_[function] = idle_->has(function);
}

std::unique_ptr<EmulatedProcess> EmulatedBinary::take_process() {
  if (!has_idle()) make_idle();
  return std::move(idle_);
}

void EmulatedBinary::take_back(std::unique_ptr<EmulatedProcess> process) {
  if (!keeps_processes_ || idle_ || !process->lives()) return;
  idle_ = std::move(process);
  owner_ = getpid();
}

}  // namespace concord

#pragma once

#include <map>
#include <memory>
#include <string>

#include "subsystem/fmu/emulated/emulated_process.hpp"

namespace concord {

/// A binary of another platform, of which each instance has a process of its own.
class EmulatedBinary {
 public:
  /// `prefix` stands before its functions' names; `keeps_processes`: one whose instance is gone may
  /// have another one. Throws what EmulatedProcess throws.
  EmulatedBinary(Emulation emulation, std::string prefix, bool keeps_processes);

  /// Throws EmulationEnd.
  bool has(const std::string& function);

  /// The one that is idle, else a new one.
  std::unique_ptr<EmulatedProcess> take_process();
  /// Of an instance that is gone.
  void take_back(std::unique_ptr<EmulatedProcess> process);

  const std::string& prefix() const { return prefix_; }

 private:
  bool has_idle() const;
  void make_idle();

  Emulation emulation_;
  std::string prefix_;
  bool keeps_processes_;
  std::unique_ptr<EmulatedProcess> idle_;
  pid_t owner_;  ///< of the idle one: a process that was forked has none of its parent's
  std::map<std::string, bool> has_;
};

}  // namespace concord

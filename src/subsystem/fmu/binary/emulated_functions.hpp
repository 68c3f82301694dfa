#pragma once

#include <memory>
#include <string_view>

#include "subsystem/fmu/emulated/emulated_binary.hpp"

namespace concord {

/// The function of the standard that does what that of the binary does, by a call of the process
/// which has it; its instances are those that such functions have made. Null: none of this name.
/// What ends the process ends the call as a crash does (foreign_call.hpp).
void* emulated_function(std::string_view name);

/// While it lives, functions that instantiate take a process of this binary; null: they are others.
class EmulatedInstantiation {
 public:
  explicit EmulatedInstantiation(std::shared_ptr<EmulatedBinary> binary);
  ~EmulatedInstantiation();
  EmulatedInstantiation(const EmulatedInstantiation&) = delete;
  EmulatedInstantiation& operator=(const EmulatedInstantiation&) = delete;

 private:
  std::shared_ptr<EmulatedBinary> outer_;
};

}  // namespace concord

#pragma once

#include <string>
#include <vector>

#include "concord/registry.hpp"

namespace concord {

/// Identifies an opened shared library; null stands for what is compiled into the program.
using LibraryHandle = void*;

/// A type in the registry and where it came from.
struct RegisteredSubsystem {
  std::string type;
  SubsystemFactory factory;
  LibraryHandle library;
};

/// All registrations so far, in their order.
const std::vector<RegisteredSubsystem>& all_registered_subsystems();

/// Says that the registrations from index `first` on came from `library`.
void assign_registrations(std::size_t first, LibraryHandle library);

}  // namespace concord

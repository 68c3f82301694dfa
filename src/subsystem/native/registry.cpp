#include "subsystem/native/registry.hpp"

#include <set>

namespace concord {

namespace {

// A function's static: registrations run before main, in any order.
std::vector<RegisteredSubsystem>& registrations() {
  static std::vector<RegisteredSubsystem> all;
  return all;
}

}  // namespace

bool register_subsystem(const char* type, SubsystemFactory factory) {
  registrations().push_back({type, factory, nullptr});
  return true;
}

std::vector<std::string> registered_subsystems() {
  std::set<std::string> names;
  for (const RegisteredSubsystem& entry : registrations()) {
    names.insert(entry.type);
  }
  return {names.begin(), names.end()};
}

const std::vector<RegisteredSubsystem>& all_registered_subsystems() { return registrations(); }

void assign_registrations(std::size_t first, LibraryHandle library) {
  for (std::size_t i = first; i < registrations().size(); ++i) {
    registrations()[i].library = library;
  }
}

}  // namespace concord

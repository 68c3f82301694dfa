#include "subsystem/fmu/binary/live_instances.hpp"

#include <mutex>
#include <unordered_map>

#include "support/foreign_call.hpp"

namespace concord {
namespace {

/// By their own address and by that of their place.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, FmuInstance*> instances;
};

/// Never destroyed: an FMU may speak while the program ends.
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

}  // namespace

LiveInstance::LiveInstance(FmuInstance& instance, const ForeignPlace& place)
    : instance_(instance), place_(place) {
  const std::lock_guard lock(registry().mutex);
  registry().instances[&instance] = &instance;
  registry().instances[&place] = &instance;
}

LiveInstance::~LiveInstance() {
  const std::lock_guard lock(registry().mutex);
  registry().instances.erase(&instance_);
  registry().instances.erase(&place_);
}

FmuInstance* LiveInstance::at(const void* pointer) {
  const std::lock_guard lock(registry().mutex);
  const auto& instances = registry().instances;
  auto found = instances.find(pointer);
  if (found == instances.end()) found = instances.find(ForeignCall::running().place);
  return found == instances.end() ? nullptr : found->second;
}

}  // namespace concord

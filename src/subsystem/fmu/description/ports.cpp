#include "subsystem/fmu/description/ports.hpp"

#include <algorithm>

namespace concord {

namespace {

/// The type whose calls a variable takes.
FmiType called_as(FmiType type, FmiVersion version) {
  if (type != FmiType::enumeration) return type;
  return version == FmiVersion::v3 ? FmiType::int64 : FmiType::int32;
}

}  // namespace

void FmuPorts::add(const FmiVariable& variable, std::size_t first) {
  const FmiType type = called_as(variable.type, version_);
  auto group = std::find_if(groups_.begin(), groups_.end(),
                            [&](const Group& known) { return known.type == type; });
  if (group == groups_.end()) group = groups_.insert(group, {type, {}, {}});
  if (variable.negated) group->negated.push_back(group->references.size());
  group->references.push_back(variable.reference);
  for (std::size_t i = first; i < first + variable.size; ++i) {
    group->in_a_row = group->in_a_row && (group->places.empty() || group->places.back() + 1 == i);
    group->places.push_back(i);
    places_.push_back(i);
  }
  if (kind_of(variable) == SignalKind::held) return;
  reals_.push_back({variable.reference, first, variable.size, variable.negated ? -1.0 : 1.0});
  real_references_.push_back(variable.reference);
  real_elements_ += variable.size;
}

}  // namespace concord

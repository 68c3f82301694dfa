#include "subsystem/fmu/passed_state.hpp"

#include <vector>

namespace concord {

std::optional<std::string> refusal_to_pass_state(const FmuSetup& setup, const FmuUse& use) {
  const std::string fmu = "the FMU " + setup.request.path.string();
  if (setup.interface().state && !use.state)
    return "saving the state of " + fmu + " is withheld (-subsystem_rollback false)";
  if (!use.state) return fmu + " cannot save its state (" + missing_states(setup) + ")";
  if (!use.serializes) return fmu + " cannot give its state away (canSerializeFMUState)";
  return std::nullopt;
}

std::optional<std::string> pass_state(FmuInstance& instance, Archive& archive) {
  FmuSnapshot snapshot(instance);
  FmuMode mode = instance.mode();
  std::vector<char> bytes;
  if (!archive.reading() && !(instance.save(snapshot) && instance.serialize(snapshot, bytes)))
    return instance.failure();
  CONCORD_MEMBERS(archive, mode, bytes);
  if (archive.reading() &&
      !(instance.deserialize(bytes, mode, snapshot) && instance.restore(snapshot)))
    return instance.failure();
  return std::nullopt;
}

}  // namespace concord

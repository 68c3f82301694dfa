#include "simulation/states_trial.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// Macro-steps are repeated by the method, by the step control, or to end at events.
bool relies_on_states(const Settings& settings, const Model& model) {
  const auto has_events = [](const auto& entry) { return entry.description.events; };
  return settings.takes_back() || settings.adapt != Adapt::none ||
         std::any_of(model.subsystems.begin(), model.subsystems.end(), has_events);
}

/// A trial that cannot be made says nothing.
std::string refutation(const SubsystemEntry& entry, const Settings& settings) {
  try {
    return entry.type->try_states(settings.start, settings.stop, settings.step);
  } catch (const SimulationError&) {
    return "";
  }
}

void note(SubsystemEntry& entry, const std::string& reason, bool speaks) {
  entry.type.own().false_states = reason;
  if (speaks) {
    std::fprintf(stderr,
                 "concord: note: subsystem '%s' (%s): %s; it is used without rollback "
                 "(-subsystem_rollback true believes it)\n",
                 entry.description.name.c_str(), entry.type->file.path.c_str(), reason.c_str());
  }
}

/// Subsystems that are made from the same.
using Kind = std::vector<std::size_t>;

std::vector<Kind> kinds_to_try(const Model& model, const Settings& settings) {
  std::map<std::string, Kind> kinds;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (entry.type->try_states && settings.subsystems[k].rollback)
      kinds[entry.type->file.path].push_back(k);
  }
  std::vector<Kind> result;
  for (auto& [path, kind] : kinds) result.push_back(std::move(kind));
  return result;
}

/// Shared out among the ranks.
void try_kinds(const std::vector<Kind>& kinds, const Settings& settings, Model& model,
               MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  std::vector<std::string> found(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (static_cast<int>(i) % ranks == rank) {
      found[i] = refutation(model.subsystems[kinds[i].front()], settings);
    }
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto own = found[i].empty() ? std::nullopt : std::optional(found[i]);
    const auto reason = agree_on_text(comm, own);
    for (std::size_t at = 0; reason && at < kinds[i].size(); ++at) {
      note(model.subsystems[kinds[i][at]], *reason, rank == 0 && at == 0);
    }
  }
}

}  // namespace

void find_false_states(Model& model, MPI_Comm comm) {
  const auto can_be_tried = [](const auto& entry) { return entry.type->try_states != nullptr; };
  if (std::none_of(model.subsystems.begin(), model.subsystems.end(), can_be_tried)) return;
  const Settings settings = read_settings_for_check(model);
  if (relies_on_states(settings, model)) {
    try_kinds(kinds_to_try(model, settings), settings, model, comm);
  }
  for (SubsystemEntry& entry : model.subsystems)
    if (can_be_tried(entry)) entry.type.own().try_states = nullptr;
}

}  // namespace concord

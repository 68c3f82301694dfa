#include "checkpoint/run_turn.hpp"

#include <vector>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/shares.hpp"
#include "concord/errors.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

std::vector<std::filesystem::path> candidates(const CheckpointSettings& settings) {
  if (settings.may_start) return checkpoints_at(settings.path);
  return {settings.restart};
}

std::vector<RunTurn> newest(const CheckpointSettings& settings) {
  for (const std::filesystem::path& path : candidates(settings)) {
    try {
      return {read_checkpoint_content(path).turn};
    } catch (const InputError&) {
      continue;
    }
  }
  return {};
}

}  // namespace

std::optional<RunTurn> turn_to_go_on(MPI_Comm comm, const CheckpointSettings& settings) {
  if (settings.restart.empty()) return std::nullopt;
  std::vector<RunTurn> found;
  if (rank_in(comm) == 0) found = newest(settings);
  found = shared(comm, std::move(found));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace concord

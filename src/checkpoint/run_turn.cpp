#include "checkpoint/run_turn.hpp"

#include <utility>
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

std::vector<RunBefore> newest(const CheckpointSettings& settings) {
  for (const std::filesystem::path& path : candidates(settings)) {
    try {
      CheckpointContent content = read_checkpoint_content(path);
      return {{content.turn, std::move(content.paces)}};
    } catch (const InputError&) {
      continue;
    }
  }
  return {};
}

}  // namespace

std::optional<RunBefore> run_to_go_on(MPI_Comm comm, const CheckpointSettings& settings) {
  if (settings.restart.empty()) return std::nullopt;
  std::vector<RunBefore> found;
  if (rank_in(comm) == 0) found = newest(settings);
  found = shared(comm, std::move(found));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

}  // namespace concord

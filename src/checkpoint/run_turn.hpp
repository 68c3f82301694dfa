#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "concord/archive.hpp"
#include "settings/settings.hpp"

namespace concord {

/// A run among those that are tried until one reaches the accuracy: what share of that it aims at,
/// in which macro-steps at most (0: any), whether another may take its place, after how many
/// macro-steps it is given up (0: never), how many all before it took, by how much the best of them
/// missed the accuracy, and at what that had aimed (0: there is none).
struct RunTurn {
  double aim = 1.0;
  double largest_step = 0.0;
  bool repeatable = false;
  std::int64_t most_steps = 0;
  std::int64_t steps_before = 0;
  double least_missed = std::numeric_limits<double>::infinity();
  double best_aim = 0.0;
  double best_largest_step = 0.0;

  /// The best of those that were tried: told whatever it misses.
  RunTurn best() const {
    return {.aim = best_aim,
            .largest_step = best_largest_step,
            .repeatable = repeatable,
            .best_aim = best_aim,
            .best_largest_step = best_largest_step};
  }
  bool is_best() const {
    return best_aim > 0.0 && aim == best_aim && largest_step == best_largest_step;
  }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, aim, largest_step, repeatable, most_steps, steps_before, least_missed,
                    best_aim, best_largest_step);
  }
  int memory_version() const { return 2; }
};

/// What a run goes on with.
struct RunBefore {
  RunTurn turn;
  Paces paces;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, turn, paces); }
};

/// Of the checkpoint from which a run goes on with these settings; nothing where none is there that
/// can be read, of which others tell. Collective.
std::optional<RunBefore> run_to_go_on(MPI_Comm comm, const CheckpointSettings& settings);

}  // namespace concord

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace concord {

/// Why a run cannot go on in its results file.
struct ResultsObstacle {
  std::string reason;
  bool lost = false;  ///< there is none, it is damaged, or its rows are: not one of another run
};

/// The rows of a run, as its checkpoints see them.
class CheckpointedRows {
 public:
  virtual ~CheckpointedRows() = default;

  /// Where they end now, in bytes of its own.
  virtual std::vector<std::byte> mark() const = 0;
  /// Those up to a mark are on the disk, whatever becomes of the machine. Throws SimulationError
  /// where they are not. Collective.
  virtual void secure(const std::vector<std::byte>& mark) = 0;
  /// What keeps a run from going on behind a mark. Of the first rank.
  virtual std::optional<ResultsObstacle> obstacle(const std::vector<std::byte>& mark) const = 0;
};

}  // namespace concord

#pragma once

#include <functional>
#include <optional>

#include "checkpoint/checkpoint_file.hpp"
#include "files/writer_lock.hpp"
#include "simulation/checkpointed_rows.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// The checkpoints of a run, and its way back to one of them.
///
/// At the start and at every n-th macro-step (-cosim_checkpoint_epoch), by number and never by the
/// clock, the run drops what is only kept to save work and copies what is left: whoever goes on
/// from such a copy has the same bits. The file gets the last copy: at the start, where
/// -cosim_checkpoint_every has passed, and where the run stops before its end. Member functions are
/// collective.
class Checkpoints {
 public:
  /// `turn`: which of the runs that are tried it is. `others`: io of what else goes on with the run
  /// on this rank. `rows`: its rows, without which no checkpoint is written.
  Checkpoints(SimulationCore& simulation, const RunTurn& turn, std::function<void(Archive&)> others,
              std::function<CheckpointedRows&()> rows);

  bool wanted() const { return settings_.writes(); }

  /// Whether the run goes on from a checkpoint, which then is done; with what is told of it.
  /// `auto`: from the newest that is whole and has its rows. Throws InputError where that belongs
  /// to another run.
  std::optional<std::string> restart();

  /// The run has started, and no row is written yet; no other run writes its checkpoints from here
  /// on. Throws InputError where it cannot be saved.
  void require_possible();

  /// The first row is there. Throws InputError where it cannot be saved.
  void begin();

  /// After macro-steps: `steps` of the whole run so far.
  void look(std::int64_t steps);

  /// The run stops before its end. Throws SimulationError.
  void finish();

  /// The run has come to its end, from which another one may start. Only told where that cannot be
  /// written.
  void complete();

  /// The run has failed: whoever finds a remedy goes on from the last copy. What goes wrong is only
  /// told.
  void keep();

  /// Another run takes the place of this one: nobody is to go on from here.
  void withdraw();

  /// s until which the run can be continued.
  double time() const { return copy_.time; }

 private:
  void copy(std::int64_t steps);
  std::optional<std::string> attempt_to_write();
  std::optional<std::string> obstacle(const std::vector<std::byte>& own) const;
  void gather(const std::vector<std::byte>& own);
  void gather_end();
  Archive::Memory scattered(Archive::Memory& whole) const;
  void take_layouts(const LaneLayouts& whole);
  void require_same_run(const CheckpointContent& found);
  /// A checkpoint to go on from, and what is told of those that are newer.
  struct Choice {
    std::string path;
    CheckpointContent content;
    std::string told{};
  };
  std::optional<Choice> choose();
  std::optional<Choice> choose_given();
  std::optional<Choice> choose_newest();
  void keep_up_with_rows();
  bool due() const;
  void warn(const std::string& failure) const;

  SimulationCore& simulation_;
  const CheckpointSettings& settings_;
  std::function<void(Archive&)> others_;
  std::function<CheckpointedRows&()> rows_;
  CheckpointContent copy_;                 ///< without the memory
  Archive::Memory own_;                    ///< this rank's
  std::vector<ArchiveClass> own_classes_;  ///< that remember it
  LaneLayouts own_layouts_;                ///< of own_
  std::optional<ArchiveSchema> schema_;    ///< of which they are still to be made
  bool written_ = false;                   ///< the copy
  std::optional<WriterLock> lock_;         ///< of the first rank
  std::int64_t began_at_ = 0;              ///< macro-step from which this run goes on
  WorkClock::Instant written_at_ = WorkClock::now();
  std::string told_;
};

}  // namespace concord

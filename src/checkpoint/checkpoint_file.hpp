#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/memory_columns.hpp"
#include "checkpoint/run_turn.hpp"
#include "concord/archive.hpp"
#include "simulation/file_prints.hpp"

namespace concord {

/// By what a subsystem of another run is known.
struct SubsystemPrint {
  std::string name, kind;
  std::string identity;  ///< whose memory fits into no other (SubsystemEntry)
  bool isolated = false;
  std::vector<std::string> states;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, name, kind, identity, isolated, states); }
};

/// Where a run ended, which another one may start from; none goes on from there.
struct CheckpointEnd {
  double time = 0.0;  ///< s
  std::vector<std::vector<std::byte>> themselves;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, time, themselves); }
};

/// What a checkpoint holds of a run at one communication point. The file is one of HDF5, behind a
/// block of 512 bytes with its check value: attributes, /subsystem_names, and the memory in columns
/// (write_columns); /content is what is here besides.
struct CheckpointContent {
  std::string version;  ///< of Concord
  std::string model;    ///< its name
  std::string changes;  ///< that were set over what its files say
  std::vector<FilePrint> files;
  std::string options;     ///< the database as text
  int ranks = 1;           ///< that have written it; any number can read it
  double time = 0.0;       ///< s
  std::int64_t steps = 0;  ///< macro-steps until there
  RunTurn turn{};          ///< which of the runs it is that are tried
  Paces paces{};           ///< with the groups that subsystems were made of
  std::vector<SubsystemPrint> subsystems;
  std::vector<ArchiveClass> classes;  ///< that remember something
  std::vector<std::byte> rows;        ///< where its rows end (CheckpointedRows)
  LaneLayouts layouts;                ///< of `memory`
  std::optional<CheckpointEnd> end{};
  Archive::Memory memory;  ///< of all subsystems, in the model's order

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, version, model, changes, files, options, ranks, time, steps, turn,
                    paces, subsystems, classes, rows, layouts, end);
  }
  /// The last point of which the subsystems' memory is there, s.
  double last_time() const { return end ? end->time : time; }
};

/// The most that are kept.
inline constexpr int most_checkpoints = 100;

/// Where the n-th checkpoint before the last one is kept: "run.chk.old", "run.chk.old2", ...
std::filesystem::path earlier_checkpoint(const std::filesystem::path& path, int n = 1);

/// Those that are there, the newest first.
std::vector<std::filesystem::path> checkpoints_at(const std::filesystem::path& path);

/// Removes them: nobody goes on from them.
void remove_checkpoints(const std::filesystem::path& path);

/// By one rank: written beside, synced and renamed, so that whatever becomes of the machine there
/// is a whole one; `kept` of them, with those before it. Throws std::system_error; `path` then is
/// as it was.
void write_checkpoint(const std::filesystem::path& path, CheckpointContent& content, int kept);

/// Throws InputError where something is in the way of a checkpoint of the model `model_name` that
/// is none, and where none can be written.
void require_replaceable_checkpoint(const std::filesystem::path& path,
                                    const std::string& model_name);

/// Throws InputError: not there, no checkpoint, cut or damaged, written by another version.
CheckpointContent read_checkpoint(const std::filesystem::path& path);

/// The same without the memory.
CheckpointContent read_checkpoint_content(const std::filesystem::path& path);

/// CRC-32 of `bytes` after those whose check value is `before`.
std::uint32_t check_value(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace concord

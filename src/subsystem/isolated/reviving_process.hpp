#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "subsystem/isolated/kept_process.hpp"
#include "subsystem/isolated/recipe.hpp"
#include "subsystem/isolated/subsystem_place.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/message.hpp"
#include "support/foreign_call.hpp"

namespace concord {

/// A subsystem was revived and has ended in the same call again; it was revived once more.
class DiedAgain : public ForeignEnd {
 public:
  using ForeignEnd::ForeignEnd;
};

/// Throws what the call has thrown in its process.
void rethrow(Ending ending, MessageReader& answer);

/// The process of a subsystem, and what a new one needs to be where it was: a copy of the memory at
/// the last communication point and all calls since then.
class RevivingProcess {
 public:
  /// Makes the subsystem, in the process that was kept if there is one, and keeps its own for the
  /// next one; its description. Throws InputError, SimulationError.
  RevivingProcess(Recipe recipe, const IsolationOptions& options, std::shared_ptr<KeptProcess> kept,
                  SubsystemDescription& description);
  ~RevivingProcess();
  RevivingProcess(const RevivingProcess&) = delete;
  RevivingProcess& operator=(const RevivingProcess&) = delete;

  /// The answer to a call, if need be after it was made once more in a new process. Throws
  /// DiedAgain, and ForeignEnd where nothing more can be done.
  MessageReader call(RemoteFunction function, std::span<const std::byte> request,
                     CallStatus& status);

  /// At a communication point: what a new process would begin with.
  void take_copy();
  /// The same, of memory that has been read.
  void know_copy(std::vector<std::byte> memory);

  /// Where the subsystem stands, for messages.
  void stand_at(double t) { time_ = t; }

  std::int64_t revived = 0;  ///< how often

 private:
  using Bytes = std::vector<std::byte>;

  /// The last of these calls.
  struct Beginning {
    Bytes make, note_use, start, enter;
  };

  void begin_process();
  void remember(RemoteFunction function, std::span<const std::byte> request);
  void mourn(RemoteFunction function);
  void revive();
  void redo(std::span<const std::byte> request);
  void redo_journal();
  void refuse_copies(const std::string& reason);
  std::string words(RemoteFunction function) const;
  void tell();

  Recipe recipe_;
  IsolationOptions options_;
  std::shared_ptr<KeptProcess> kept_;
  std::unique_ptr<SubsystemPlace> process_;
  Beginning beginning_;
  Bytes copy_, journal_;  ///< calls with their sizes
  bool keeps_journal_ = true;
  std::string refusal_;  ///< why no copies are taken
  double time_ = 0.0;
  bool started_ = false;
  double death_time_ = 0.0;
  int deaths_ = 0;  ///< at that time
  std::string last_words_, told_;
};

}  // namespace concord

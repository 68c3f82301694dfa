#pragma once

#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// The texts and bytes that an FMU is fed, and those that it puts out (FmuSetup::texts).
class FmuTexts {
 public:
  explicit FmuTexts(const FmuSetup& setup);

  /// Whether anything may feed it some.
  bool any_inputs() const { return !inputs_.empty(); }

  /// As TextPorts: keeps what is clocked for the ticks to come, the rest until `set`, and whether
  /// there is any of that. Throws SimulationError where one is too long.
  bool take(std::span<const Texts> texts, ClockMemory& clocks);

  /// Sets all that it was ever fed.
  bool set(FmuInstance& instance) const;

  /// What the FMU refuses to tell is noted once, and stays empty. False where it had failed before.
  bool put_out(FmuInstance& instance, ClockMemory& clocks, std::span<Texts> texts);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, inputs_, fed_); }

 private:
  const FmuSetup* setup_;
  std::vector<std::string> inputs_;  ///< of all elements; where nothing feeds them, start values
  std::vector<char> fed_;            ///< variables, one of whose elements was fed
  std::vector<char> refused_;        ///< outputs that the FMU does not tell
  std::vector<std::string> read_;    ///< scratch
};

/// What texts and bytes an FMU's variables are; null: none.
std::shared_ptr<const TextInterface> texts_of(const FmuSetup& setup);

}  // namespace concord

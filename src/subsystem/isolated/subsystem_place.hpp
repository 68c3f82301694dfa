#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "subsystem/isolated/calls.hpp"
#include "subsystem/isolation_options.hpp"
#include "subsystem/message.hpp"

namespace concord {

class Recipe;

/// Where a subsystem lives that is called by messages: a process of its own, or one outside that
/// serves it.
class SubsystemPlace {
 public:
  virtual ~SubsystemPlace() = default;

  /// The answer to a call, valid until the next one; nothing where the process has ended, for which
  /// `last_words` has the reason. Throws SimulationError.
  virtual std::optional<MessageReader> call(std::span<const std::byte> request,
                                            CallStatus& status) = 0;

  /// Frees what is there, for some seconds at most; the process goes on. False where it was alive
  /// and has ended thereby.
  virtual bool release() = 0;

  virtual bool lives() = 0;

  /// "the FMU crashed (SIGSEGV) in fmi2DoStep of subsystem 'left' (left.fmu) at t = 0.5 s; ..."
  /// where that could be said; else how the process has ended: then `names_place` is false.
  virtual const std::string& last_words() const = 0;
  virtual bool names_place() const = 0;
};

/// A new one for what the recipe makes. Throws InputError, SimulationError.
std::unique_ptr<SubsystemPlace> begin_place(const Recipe& recipe, const IsolationOptions& options);

}  // namespace concord

#pragma once

#include <memory>
#include <string>

#include "subsystem/isolated/subsystem_place.hpp"
#include "subsystem/remote/caller.hpp"

namespace concord {

/// What both ends of a call must have in common: the version, and sizes of what goes as it is in
/// memory.
std::string layout_of_calls();

/// A process outside that serves a subsystem whole (`concord serve`): the calls of an isolated one
/// go through the link to it.
class DistantHost final : public SubsystemPlace, private RemoteCaller {
 public:
  /// Waits for the process, as long as it may take to come. Throws SimulationError.
  DistantHost(std::shared_ptr<const RemoteDescription> remote, std::shared_ptr<RemoteLink> link);

  std::optional<MessageReader> call(std::span<const std::byte> request,
                                    CallStatus& status) override;
  bool release() override;
  bool lives() override { return stands(); }
  const std::string& last_words() const override { return last_words_; }
  bool names_place() const override { return names_place_; }

 private:
  bool begin();

  std::string last_words_;
  bool names_place_ = false;
};

}  // namespace concord

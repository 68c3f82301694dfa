#pragma once

#include <optional>
#include <vector>

#include "subsystem/remote/link.hpp"
#include "support/socket_watch.hpp"

namespace concord {

/// Questions as ZeroMQ's messages: DEALER here, REP there. Where two are connected, messages go to
/// one and the other.
class SocketLink final : public RemoteLink {
 public:
  using RemoteLink::RemoteLink;

  void open() override;
  bool is_connected() const override { return watch_->open() > 0; }
  bool is_crowded() const override { return watch_->open() > 1; }
  int connections() const override { return watch_->connections(); }
  bool met_strangers() const override { return watch_->met_strangers(); }
  bool send(std::span<const std::uint8_t> bytes) override;
  News wait(Clock::time_point until) override;
  void catch_up() override { watch_->catch_up(); }
  std::span<const std::uint8_t> message() const override { return message_; }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<SocketWatch> watch_;  ///< none: not open
  std::vector<std::uint8_t> message_;
};

}  // namespace concord

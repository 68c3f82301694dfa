#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/socket_watch.hpp"

namespace concord {

/// Which side of a connection Concord is.
enum class RemoteSide { connects, listens };

/// "tcp://127.0.0.1:5555", "ipc:///tmp/bench"; * in the place of a host stands for all of this
/// machine's, at which one listens.
bool is_remote_address(const std::string& text, RemoteSide side);

/// Questions to one process outside and its answers, as ZeroMQ's messages: DEALER here, REP there.
/// It tells of each connection that begins or ends, since what was asked before is lost with it.
class RemoteLink {
 public:
  using Clock = SocketWatch::Clock;

  enum class News { message, connected, lost, none /* until then */ };

  RemoteLink(std::string address, RemoteSide side);

  const std::string& address() const { return address_; }
  RemoteSide side() const { return side_; }

  /// Does nothing where it is open. Throws SimulationError.
  void open();

  bool is_connected() const { return watch_->open() > 0; }
  /// Whether a second process is connected, too: messages go to one and the other.
  bool is_crowded() const { return watch_->open() > 1; }
  int connections() const { return watch_->connections(); }
  bool met_strangers() const { return watch_->met_strangers(); }
  std::int64_t next_number() { return ++number_; }

  /// Without waiting; false where nobody takes it.
  bool send(std::span<const std::uint8_t> bytes);

  /// What happens next.
  News wait(Clock::time_point until);
  void catch_up() { watch_->catch_up(); }
  /// The last message, until the next one.
  std::span<const std::uint8_t> message() const { return message_; }

 private:
  std::string address_;
  RemoteSide side_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<SocketWatch> watch_;  ///< none: not open
  std::int64_t number_ = 0;           ///< of questions
  std::vector<std::uint8_t> message_;
};

}  // namespace concord

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace concord {

/// Which side of a connection Concord is.
enum class RemoteSide { connects, listens };

/// Questions to one process outside and its answers, as ZeroMQ's messages: DEALER here, REP there.
/// It tells of each connection that begins or ends, since what was asked before is lost with it.
class RemoteLink {
 public:
  using Clock = std::chrono::steady_clock;

  enum class News {
    message,
    connected,
    lost,
    none  ///< until then
  };

  RemoteLink(std::string address, RemoteSide side);
  ~RemoteLink();
  RemoteLink(const RemoteLink&) = delete;
  RemoteLink& operator=(const RemoteLink&) = delete;

  const std::string& address() const { return address_; }
  RemoteSide side() const { return side_; }

  /// Does nothing where it is open. A port that is taken may become free until then. Throws
  /// SimulationError.
  void open(Clock::time_point until);

  bool is_connected() const { return connected() > 0; }
  /// How many connections there have been.
  int connections() const { return connections_; }
  /// Whether a second process is connected, too: messages go to one and the other.
  bool is_crowded() const { return connected() > 1; }
  /// Whether somebody has come who does not speak ZeroMQ, and was sent away.
  bool met_strangers() const { return met_strangers_; }
  std::int64_t next_number() { return ++number_; }

  /// Without waiting; false where nobody takes it.
  bool send(std::span<const std::uint8_t> bytes);

  /// What happens next.
  News wait(Clock::time_point until);
  /// Takes note of what has happened to connections.
  void catch_up();
  /// The last message, until the next one.
  std::span<const std::uint8_t> message() const { return message_; }

 private:
  void make_sockets();
  std::int64_t connected() const;
  bool take_message();
  News take_event();
  bool poll(Clock::time_point until);

  std::string address_;
  RemoteSide side_;
  zmq::context_t context_;
  zmq::socket_t socket_, monitor_;
  bool open_ = false, message_waits_ = false, event_waits_ = false;
  std::map<int, bool> files_;  ///< of connections, and whether they speak ZeroMQ
  int connections_ = 0;
  bool met_strangers_ = false;
  std::int64_t number_ = 0;  ///< of questions
  std::vector<std::uint8_t> message_;
};

}  // namespace concord

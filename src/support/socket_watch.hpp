#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>
#include <zmq.hpp>

namespace concord {

/// The connections of a ZeroMQ socket.
class SocketWatch {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Change { none, connected, lost };

  /// Before `socket` connects or is bound; it must outlive this object. At sockets so watched
  /// nobody is let in whom old versions of ZeroMQ's protocol take for one of theirs.
  SocketWatch(zmq::context_t& context, zmq::socket_t& socket);
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  std::int64_t open() const;
  /// How many connections there have been.
  int connections() const { return connections_; }
  /// Whether somebody has come who does not speak ZeroMQ, and was sent away.
  bool met_strangers() const { return met_strangers_; }

  /// Waits for a message or a change, until then at most.
  struct Waiting {
    bool message = false, change = false;
    explicit operator bool() const { return message || change; }
  };
  Waiting wait(Clock::time_point until);
  Change take_change();
  /// Takes note of all that has changed.
  void catch_up();
  /// All parts of the next message, one after the other; false where none has come. `bytes` is
  /// kept for its storage.
  bool take_message(std::vector<std::uint8_t>& bytes);

 private:
  zmq::socket_t& socket_;
  zmq::socket_t monitor_;
  std::map<int, bool> files_;  ///< of connections, and whether they speak ZeroMQ
  int connections_ = 0;
  bool met_strangers_ = false;
};

/// Signals interrupt calls of ZeroMQ, which then are to be made again.
template <class Call>
auto repeated(const Call& call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

}  // namespace concord

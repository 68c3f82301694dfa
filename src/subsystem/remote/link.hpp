#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace concord {

/// Which side of a connection Concord is.
enum class RemoteSide { connects, listens };

/// "tcp://127.0.0.1:5555", "ipc:///tmp/bench", "shm://bench"; * in the place of a host stands for
/// all of this machine's, at which one listens.
bool is_remote_address(const std::string& text, RemoteSide side);

/// Of those, the ones of memory that two processes share.
bool is_in_memory(const std::string& address);

/// How such an address looks, for messages.
constexpr const char* remote_addresses =
    "an address like tcp://127.0.0.1:5555, ipc:///tmp/bench or shm://bench";

/// Questions to one process outside and its answers. It tells of each connection that begins or
/// ends, since what was asked before is lost with it.
class RemoteLink {
 public:
  using Clock = std::chrono::steady_clock;

  enum class News { message, connected, lost, none /* until then */ };

  RemoteLink(std::string address, RemoteSide side) : address_(std::move(address)), side_(side) {}
  virtual ~RemoteLink() = default;
  RemoteLink(const RemoteLink&) = delete;
  RemoteLink& operator=(const RemoteLink&) = delete;

  const std::string& address() const { return address_; }
  RemoteSide side() const { return side_; }
  std::int64_t next_number() { return ++number_; }

  /// Does nothing where it is open. Throws SimulationError.
  virtual void open() = 0;

  virtual bool is_connected() const = 0;
  /// Whether a second process is connected, too.
  virtual bool is_crowded() const = 0;
  /// How many connections there have been.
  virtual int connections() const = 0;
  /// Whether somebody has come who speaks otherwise, and was sent away.
  virtual bool met_strangers() const = 0;

  /// Without waiting; false where nobody takes it.
  virtual bool send(std::span<const std::uint8_t> bytes) = 0;

  /// What happens next.
  virtual News wait(Clock::time_point until) = 0;
  /// Takes note of who has come and gone.
  virtual void catch_up() = 0;
  /// The last message, until the next one.
  virtual std::span<const std::uint8_t> message() const = 0;

 private:
  std::string address_;
  RemoteSide side_;
  std::int64_t number_ = 0;  ///< of questions
};

/// Through ZeroMQ's sockets or through memory, as the address says.
std::shared_ptr<RemoteLink> make_remote_link(const std::string& address, RemoteSide side);

}  // namespace concord

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "subsystem/remote/link.hpp"
#include "support/channel.hpp"
#include "support/meeting_place.hpp"

namespace concord {

/// The file in which "shm://bench" or "shm:///tmp/bench" has its meeting place.
std::string meeting_path(const std::string& address);

MeetingPlace::Side meeting_side(RemoteSide side);

/// Questions through memory that this process shares with the other one, in a channel as isolated
/// subsystems have it. Each connection has memory of its own, without a name.
class MemoryLink final : public RemoteLink {
 public:
  MemoryLink(const std::string& address, RemoteSide side);

  void open() override;
  bool is_connected() const override { return channel_ != nullptr; }
  bool is_crowded() const override { return static_cast<bool>(second_); }
  int connections() const override { return connections_; }
  bool met_strangers() const override { return place_.met_strangers(); }
  bool send(std::span<const std::uint8_t> bytes) override;
  News wait(Clock::time_point until) override;
  void catch_up() override;
  std::span<const std::uint8_t> message() const override { return message_; }

 private:
  void look_around(Clock::duration patience);
  void take_in(MeetingPlace::Guest guest);
  void drop();
  std::optional<std::span<const std::byte>> next_answer(Clock::time_point until);
  News wait_for_answer(Clock::time_point until);

  MeetingPlace place_;
  OwnFile other_, second_;            ///< sockets of who is connected
  std::unique_ptr<Channel> channel_;  ///< null: not connected
  bool asked_ = false;                ///< and not answered
  int connections_ = 0;
  Clock::time_point looked_;
  std::vector<std::uint8_t> message_;
};

}  // namespace concord

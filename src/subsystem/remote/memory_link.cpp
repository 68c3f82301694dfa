#include "subsystem/remote/memory_link.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view scheme = "shm://";
/// Looking costs as much as an exchange; who has gone is found out while an answer is waited for.
constexpr milliseconds between_looks{5}, longest_patience{20};

}  // namespace

std::string meeting_path(const std::string& address) {
  const std::string name = address.substr(scheme.size());
  return name.find('/') == std::string::npos ? "/dev/shm/concord." + name : name;
}

MeetingPlace::Side meeting_side(RemoteSide side) {
  return side == RemoteSide::listens ? MeetingPlace::Side::listens : MeetingPlace::Side::connects;
}

MemoryLink::MemoryLink(const std::string& address, RemoteSide side)
    : RemoteLink(address, side),
      place_(meeting_path(address), meeting_side(side), MeetingPlace::Greets::second) {}

void MemoryLink::open() {
  try {
    place_.open();
  } catch (const SimulationError& error) {
    throw SimulationError("cannot listen at " + address() + ": " + error.what());
  }
}

void MemoryLink::drop() {
  channel_.reset();
  other_.reset(-1);
  asked_ = false;
}

void MemoryLink::take_in(MeetingPlace::Guest guest) {
  if (channel_) {
    second_ = std::move(guest.socket);
    return;
  }
  auto channel = std::make_unique<Channel>();
  if (!MeetingPlace::greet(guest.socket, channel->file())) return;
  channel_ = std::move(channel);
  other_ = std::move(guest.socket);
  ++connections_;
}

void MemoryLink::look_around(Clock::duration patience) {
  if (channel_ && !MeetingPlace::is_there(other_)) drop();
  if (second_ && !MeetingPlace::is_there(second_)) second_.reset(-1);
  for (MeetingPlace::Guest& guest : place_.look(patience, !channel_)) take_in(std::move(guest));
  looked_ = Clock::now();
}

void MemoryLink::catch_up() {
  if (!channel_ || Clock::now() >= looked_ + between_looks) look_around({});
}

/// One question at a time: who still owes the answer to another one is left.
bool MemoryLink::send(std::span<const std::uint8_t> bytes) {
  if (asked_) drop();
  if (!channel_) return false;
  channel_->call(std::as_bytes(bytes));
  asked_ = true;
  return true;
}

std::optional<std::span<const std::byte>> MemoryLink::next_answer(Clock::time_point until) {
  try {
    return channel_->wait_for_answer(
        [&] { return MeetingPlace::is_there(other_) && Clock::now() < until; });
  } catch (const SimulationError& error) {
    throw SimulationError(address() + ": " + error.what());
  }
}

RemoteLink::News MemoryLink::wait_for_answer(Clock::time_point until) {
  if (const auto answer = next_answer(until)) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(answer->data());
    message_.assign(begin, begin + answer->size());
    asked_ = false;
    return News::message;
  }
  if (MeetingPlace::is_there(other_)) return News::none;
  drop();
  return News::lost;
}

RemoteLink::News MemoryLink::wait(Clock::time_point until) {
  if (asked_) return wait_for_answer(until);
  const bool connected = channel_ != nullptr;
  const int connections = connections_;
  do {
    const Clock::duration left = std::max(until - Clock::now(), Clock::duration(0));
    look_around(std::min<Clock::duration>(left, longest_patience));
    if (connections_ != connections) return News::connected;
    if (connected && !channel_) return News::lost;
  } while (Clock::now() < until);
  return News::none;
}

}  // namespace concord

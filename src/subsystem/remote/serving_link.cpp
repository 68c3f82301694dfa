#include "subsystem/remote/serving_link.hpp"

#include <algorithm>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/remote/memory_link.hpp"
#include "support/socket_watch.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using std::chrono::milliseconds;
using Clock = RemoteLink::Clock;

/// Between looks at signals that end the program.
constexpr milliseconds longest_wait{100};
/// Between looks at who has come and gone, while there are questions.
constexpr milliseconds between_looks_around{10};

class ServingSocket final : public ServingLink {
 public:
  ServingSocket(const std::string& address, RemoteSide side)
      : socket_(context_, zmq::socket_type::rep) {
    socket_.set(zmq::sockopt::linger, 1000);
    watch_.emplace(context_, socket_);
    side == RemoteSide::listens ? socket_.bind(address) : socket_.connect(address);
  }

  std::optional<std::span<const std::uint8_t>> next() override {
    const auto waits = watch_->wait(Clock::now() + longest_wait);
    if (waits.change) watch_->catch_up();
    if (!waits.message || !watch_->take_message(message_)) return std::nullopt;
    return message_;
  }

  void answer(std::span<const std::uint8_t> bytes) override {
    repeated([&] {
      return socket_.send(zmq::buffer(bytes.data(), bytes.size()), zmq::send_flags::none);
    });
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<SocketWatch> watch_;
  std::vector<std::uint8_t> message_;
};

/// Each who asks has memory of its own.
class ServingMemory final : public ServingLink {
 public:
  ServingMemory(const std::string& address, RemoteSide side)
      : place_(meeting_path(address), meeting_side(side), MeetingPlace::Greets::first),
        connects_(side == RemoteSide::connects) {
    place_.open();
  }

  std::optional<std::span<const std::uint8_t>> next() override {
    if (channels_.empty()) look_around(longest_wait);
    for (const auto until = Clock::now() + longest_wait; !channels_.empty();) {
      const auto now = Clock::now();
      if (now >= looked_ + between_looks_around) look_around({});
      if (auto question = next_of_all()) return question;
      if (now >= until || channels_.empty()) break;
      Channel::await_call(channels_);
    }
    return std::nullopt;
  }

  void answer(std::span<const std::uint8_t> bytes) override {
    channels_[asking_]->answer(std::as_bytes(bytes));
  }

 private:
  /// Each in turn.
  std::optional<std::span<const std::uint8_t>> next_of_all() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      asking_ = (asking_ + 1) % channels_.size();
      if (!channels_[asking_]->is_called()) continue;
      const auto call = take_call(*channels_[asking_]);
      if (call) return call;
      leave(asking_);
    }
    return std::nullopt;
  }

  /// Nothing where it is no message.
  std::optional<std::span<const std::uint8_t>> take_call(Channel& channel) {
    try {
      const auto call = channel.take_call();
      const auto* const begin = reinterpret_cast<const std::uint8_t*>(call.data());
      message_.assign(begin, begin + call.size());
      return message_;
    } catch (const SimulationError&) {
      return std::nullopt;
    }
  }

  void look_around(Clock::duration patience) {
    for (std::size_t i = channels_.size(); i-- > 0;)
      if (!MeetingPlace::is_there(sockets_[i])) leave(i);
    for (auto& guest : place_.look(patience, connects_ && channels_.empty()))
      take_in(std::move(guest));
    looked_ = Clock::now();
  }

  void take_in(MeetingPlace::Guest guest) {
    if (!guest.memory) return;
    try {
      channels_.push_back(std::make_unique<Channel>(guest.memory.release()));
      sockets_.push_back(std::move(guest.socket));
    } catch (const SimulationError&) {  // who brings no memory is sent away
    }
  }

  void leave(std::size_t which) {
    channels_.erase(channels_.begin() + static_cast<std::ptrdiff_t>(which));
    sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  MeetingPlace place_;
  bool connects_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<OwnFile> sockets_;  ///< of each channel, in the same order
  std::size_t asking_ = 0;        ///< who has asked the last question
  Clock::time_point looked_;
  std::vector<std::uint8_t> message_;
};

[[noreturn]] void refuse_address(const std::string& address, RemoteSide side, const char* why) {
  throw InputError(std::string("cannot ") + (side == RemoteSide::listens ? "listen at " : "use ") +
                   in_quotes(address) + ": " + why + "; choose another address");
}

}  // namespace

std::unique_ptr<ServingLink> make_serving_link(const std::string& address, RemoteSide side) {
  try {
    if (is_in_memory(address)) return std::make_unique<ServingMemory>(address, side);
    return std::make_unique<ServingSocket>(address, side);
  } catch (const zmq::error_t& error) {
    refuse_address(address, side, error.what());
  } catch (const SimulationError& error) {
    refuse_address(address, side, error.what());
  }
}

}  // namespace concord

#include "subsystem/remote/serving_link.hpp"

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Between looks at signals that end the program.
constexpr std::chrono::milliseconds longest_wait{100};

}  // namespace

ServingLink::ServingLink(const std::string& address, RemoteSide side)
    : socket_(context_, zmq::socket_type::rep) {
  socket_.set(zmq::sockopt::linger, 1000);
  watch_.emplace(context_, socket_);
  try {
    side == RemoteSide::listens ? socket_.bind(address) : socket_.connect(address);
  } catch (const zmq::error_t& error) {
    throw InputError(std::string("cannot ") +
                     (side == RemoteSide::listens ? "listen at " : "use ") + in_quotes(address) +
                     ": " + error.what() + "; choose another address");
  }
}

std::optional<std::span<const std::uint8_t>> ServingLink::next() {
  const auto waits = watch_->wait(RemoteLink::Clock::now() + longest_wait);
  if (waits.change) watch_->catch_up();
  if (!waits.message || !watch_->take_message(message_)) return std::nullopt;
  return message_;
}

/// Who has asked may be gone by now.
void ServingLink::answer(std::span<const std::uint8_t> bytes) {
  repeated(
      [&] { return socket_.send(zmq::buffer(bytes.data(), bytes.size()), zmq::send_flags::none); });
}

}  // namespace concord

#include "subsystem/remote/socket_link.hpp"

#include <cerrno>
#include <thread>

#include "concord/errors.hpp"

namespace concord {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t longest_message = std::int64_t{1} << 30;  ///< bytes
constexpr milliseconds between_connects{20}, most_between_connects{500};
/// A port that an earlier run has just left may be taken for a while.
constexpr milliseconds between_binds{20}, longest_bind{3000};

}  // namespace

void SocketLink::open() {
  if (watch_) return;
  socket_ = zmq::socket_t(context_, zmq::socket_type::dealer);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::maxmsgsize, longest_message);
  socket_.set(zmq::sockopt::reconnect_ivl, static_cast<int>(between_connects.count()));
  socket_.set(zmq::sockopt::reconnect_ivl_max, static_cast<int>(most_between_connects.count()));
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  watch_.emplace(context_, socket_);
  const bool listens = side() == RemoteSide::listens;
  for (const auto until = Clock::now() + longest_bind;;) {
    try {
      return listens ? socket_.bind(address()) : socket_.connect(address());
    } catch (const zmq::error_t& error) {
      if (error.num() == EADDRINUSE && Clock::now() < until) {
        std::this_thread::sleep_for(between_binds);
        continue;
      }
      watch_.reset();
      throw SimulationError((listens ? "cannot listen at " : "cannot use ") + address() + ": " +
                            error.what());
    }
  }
}

/// The empty part before it is the mark that REP looks for. The socket is asked for its events
/// since it takes note of connections then: otherwise not at every call, and what is sent may go to
/// one that is no more.
bool SocketLink::send(std::span<const std::uint8_t> bytes) {
  repeated([&] { return socket_.get(zmq::sockopt::events); });
  const auto without_waiting = zmq::send_flags::dontwait;
  const auto sent = repeated(
      [&] { return socket_.send(zmq::message_t(), without_waiting | zmq::send_flags::sndmore); });
  if (!sent) return false;
  return repeated(
             [&] { return socket_.send(zmq::buffer(bytes.data(), bytes.size()), without_waiting); })
      .has_value();
}

RemoteLink::News SocketLink::wait(Clock::time_point until) {
  do {
    const auto waits = watch_->wait(until);
    if (waits.message && watch_->take_message(message_)) return News::message;
    const auto change = waits.change ? watch_->take_change() : SocketWatch::Change::none;
    if (change != SocketWatch::Change::none)
      return change == SocketWatch::Change::lost ? News::lost : News::connected;
  } while (Clock::now() < until);
  return News::none;
}

}  // namespace concord

#include "subsystem/remote/link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t longest_message = std::int64_t{1} << 30;  ///< bytes
constexpr milliseconds between_connects{20}, most_between_connects{500}, between_binds{20};
constexpr const char* monitor_address = "inproc://monitor";
constexpr int watched_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
                               ZMQ_EVENT_HANDSHAKE_SUCCEEDED;

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

milliseconds time_until(RemoteLink::Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - RemoteLink::Clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(3'600'000));
}

}  // namespace

RemoteLink::RemoteLink(std::string address, RemoteSide side)
    : address_(std::move(address)), side_(side) {}

RemoteLink::~RemoteLink() {
  if (open_) zmq_socket_monitor(socket_.handle(), nullptr, 0);
}

void RemoteLink::make_sockets() {
  socket_ = zmq::socket_t(context_, zmq::socket_type::dealer);
  monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::maxmsgsize, longest_message);
  socket_.set(zmq::sockopt::reconnect_ivl, static_cast<int>(between_connects.count()));
  socket_.set(zmq::sockopt::reconnect_ivl_max, static_cast<int>(most_between_connects.count()));
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::zap_domain, "concord");  // refuses what old versions took for messages
  monitor_.set(zmq::sockopt::linger, 0);
  zmq_socket_monitor(socket_.handle(), monitor_address, watched_events);
  monitor_.connect(monitor_address);
}

void RemoteLink::open(Clock::time_point until) {
  if (open_) return;
  make_sockets();
  for (;;) {
    try {
      side_ == RemoteSide::listens ? socket_.bind(address_) : socket_.connect(address_);
      open_ = true;
      return;
    } catch (const zmq::error_t& error) {
      if (error.num() != EADDRINUSE || Clock::now() >= until)
        throw SimulationError("cannot " +
                              std::string(side_ == RemoteSide::listens ? "listen at " : "use ") +
                              address_ + ": " + error.what());
    }
    std::this_thread::sleep_for(between_binds);
  }
}

std::int64_t RemoteLink::connected() const {
  return std::ranges::count_if(files_, [](const auto& file) { return file.second; });
}

bool RemoteLink::send(std::span<const std::uint8_t> bytes) {
  const auto without_waiting = zmq::send_flags::dontwait;
  const auto sent = repeated(
      [&] { return socket_.send(zmq::message_t(), without_waiting | zmq::send_flags::sndmore); });
  if (!sent) return false;
  return repeated(
             [&] { return socket_.send(zmq::buffer(bytes.data(), bytes.size()), without_waiting); })
      .has_value();
}

bool RemoteLink::poll(Clock::time_point until) {
  zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0},
                             {monitor_.handle(), 0, ZMQ_POLLIN, 0}};
  const bool any = repeated([&] { return zmq::poll(items, 2, time_until(until)); }) > 0;
  message_waits_ = (items[0].revents & ZMQ_POLLIN) != 0;
  event_waits_ = (items[1].revents & ZMQ_POLLIN) != 0;
  return any;
}

/// All parts of it, the first of which is empty: the mark that REP sets before what it is given.
bool RemoteLink::take_message() {
  zmq::message_t part;
  const auto next = [&] {
    return repeated([&] { return socket_.recv(part, zmq::recv_flags::dontwait); }).has_value();
  };
  if (!next()) return false;
  message_.clear();
  do {
    const auto* const begin = part.data<std::uint8_t>();
    message_.insert(message_.end(), begin, begin + part.size());
  } while (part.more() && next());
  return true;
}

RemoteLink::News RemoteLink::take_event() {
  zmq::message_t event, place;
  const auto next = [&](zmq::message_t& part) {
    return repeated([&] { return monitor_.recv(part, zmq::recv_flags::dontwait); }).has_value();
  };
  std::uint16_t what = 0;
  std::int32_t file = 0;
  if (!next(event) || !next(place) || event.size() != sizeof what + sizeof file) return News::none;
  std::memcpy(&what, event.data(), sizeof what);
  std::memcpy(&file, event.data<char>() + sizeof what, sizeof file);
  switch (what) {
    case ZMQ_EVENT_ACCEPTED:
    case ZMQ_EVENT_CONNECTED:
      files_[file] = false;
      return News::none;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: {
      // The event names no file: of those that have just come, one is as good as another.
      const auto own = std::ranges::find_if(files_, [](const auto& one) { return !one.second; });
      if (own != files_.end()) own->second = true;
      ++connections_;
      return News::connected;
    }
    case ZMQ_EVENT_DISCONNECTED: {
      const auto own = files_.find(file);
      const bool spoke = own != files_.end() && own->second;
      if (own != files_.end()) files_.erase(own);
      met_strangers_ = met_strangers_ || !spoke;
      return spoke ? News::lost : News::none;
    }
    default:
      return News::none;
  }
}

RemoteLink::News RemoteLink::wait(Clock::time_point until) {
  while (poll(until)) {
    if (message_waits_ && take_message()) return News::message;
    const News news = event_waits_ ? take_event() : News::none;
    if (news != News::none) return news;
  }
  return News::none;
}

void RemoteLink::catch_up() {
  for (;;) {
    const int events = repeated([&] { return monitor_.get(zmq::sockopt::events); });
    if ((events & ZMQ_POLLIN) == 0) return;
    take_event();
  }
}

}  // namespace concord

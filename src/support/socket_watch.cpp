#include "support/socket_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace concord {
namespace {

constexpr const char* monitor_address = "inproc://monitor";
constexpr int watched_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
                               ZMQ_EVENT_HANDSHAKE_SUCCEEDED;

std::chrono::milliseconds time_until(SocketWatch::Clock::time_point until) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(until - SocketWatch::Clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(3'600'000));
}

}  // namespace

SocketWatch::SocketWatch(zmq::context_t& context, zmq::socket_t& socket)
    : socket_(socket), monitor_(context, zmq::socket_type::pair) {
  socket_.set(zmq::sockopt::zap_domain, "concord");  // without it, connections need not say hello
  monitor_.set(zmq::sockopt::linger, 0);
  zmq_socket_monitor(socket_.handle(), monitor_address, watched_events);
  monitor_.connect(monitor_address);
}

SocketWatch::~SocketWatch() { zmq_socket_monitor(socket_.handle(), nullptr, 0); }

std::int64_t SocketWatch::open() const {
  return std::ranges::count_if(files_, [](const auto& file) { return file.second; });
}

SocketWatch::Waiting SocketWatch::wait(Clock::time_point until) {
  zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0},
                             {monitor_.handle(), 0, ZMQ_POLLIN, 0}};
  repeated([&] { return zmq::poll(items, 2, time_until(until)); });
  return {(items[0].revents & ZMQ_POLLIN) != 0, (items[1].revents & ZMQ_POLLIN) != 0};
}

bool SocketWatch::take_message(std::vector<std::uint8_t>& bytes) {
  zmq::message_t part;
  const auto next = [&] {
    return repeated([&] { return socket_.recv(part, zmq::recv_flags::dontwait); }).has_value();
  };
  if (!next()) return false;
  bytes.clear();
  do {
    const auto* const begin = part.data<std::uint8_t>();
    bytes.insert(bytes.end(), begin, begin + part.size());
  } while (part.more() && next());
  return true;
}

SocketWatch::Change SocketWatch::take_change() {
  zmq::message_t event, place;
  const auto next = [&](zmq::message_t& part) {
    return repeated([&] { return monitor_.recv(part, zmq::recv_flags::dontwait); }).has_value();
  };
  std::uint16_t what = 0;
  std::int32_t file = 0;
  if (!next(event) || !next(place) || event.size() != sizeof what + sizeof file)
    return Change::none;
  std::memcpy(&what, event.data(), sizeof what);
  std::memcpy(&file, event.data<char>() + sizeof what, sizeof file);
  if (what == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
    // The event names no file: of those that have just come, one is as good as another.
    const auto own = std::ranges::find_if(files_, [](const auto& one) { return !one.second; });
    if (own != files_.end()) own->second = true;
    ++connections_;
    return Change::connected;
  }
  if (what != ZMQ_EVENT_DISCONNECTED) {
    files_[file] = false;
    return Change::none;
  }
  const auto own = files_.find(file);
  const bool spoke = own != files_.end() && own->second;
  if (own != files_.end()) files_.erase(own);
  met_strangers_ = met_strangers_ || !spoke;
  return spoke ? Change::lost : Change::none;
}

void SocketWatch::catch_up() {
  while ((repeated([&] { return monitor_.get(zmq::sockopt::events); }) & ZMQ_POLLIN) != 0)
    take_change();
}

}  // namespace concord

#include "support/meeting_place.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view greeting = "concord memory 1";
constexpr int backlog = 16;
constexpr std::size_t most_guests = 64;
/// One that connects tries again so soon.
constexpr milliseconds between_tries{10};
/// Between bind and listen of somebody else, its file looks like one that was left behind.
constexpr milliseconds until_left{30};

OwnFile new_socket() {
  return OwnFile(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

sockaddr_un name_of(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) throw SimulationError("a path that is too long");
  std::copy(path.begin(), path.end(), name.sun_path);
  return name;
}

bool connects(const OwnFile& from, const std::string& path) {
  const sockaddr_un name = name_of(path);
  return connect(from.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

/// Who can share memory can do what this user can.
bool is_ours(const OwnFile& socket) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

}  // namespace

bool MeetingPlace::claim() {
  const sockaddr_un name = name_of(path_);
  listener_ = new_socket();
  return listener_ && fchmod(listener_.get(), S_IRUSR | S_IWUSR) == 0 &&
         bind(listener_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
         listen(listener_.get(), backlog) == 0;
}

void MeetingPlace::open() {
  if (side_ == Side::connects || listener_) return;
  if (claim()) return;
  if (errno == EADDRINUSE) {
    for (const auto until = Clock::now() + until_left; Clock::now() < until;) {
      if (connects(new_socket(), path_)) break;
      std::this_thread::sleep_for(between_tries);
    }
    const bool left_behind = !connects(new_socket(), path_) && errno == ECONNREFUSED;
    if (left_behind && unlink(path_.c_str()) == 0 && claim()) return;
    if (!left_behind) errno = EADDRINUSE;
  }
  listener_.reset(-1);
  throw SimulationError(std::strerror(errno));
}

void MeetingPlace::close() {
  if (listener_) unlink(path_.c_str());
  listener_.reset(-1);
  guests_.clear();
}

void MeetingPlace::let_in(OwnFile socket) {
  if (!is_ours(socket)) {
    met_strangers_ = true;
    return;
  }
  if (greets_ == Greets::first && !greet(socket, -1)) return;
  if (guests_.size() == most_guests) guests_.erase(guests_.begin());
  guests_.push_back({std::move(socket), OwnFile()});
}

void MeetingPlace::accept_all() {
  while (OwnFile socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)})
    let_in(std::move(socket));
}

void MeetingPlace::try_to_connect() {
  OwnFile socket = new_socket();
  if (connects(socket, path_)) let_in(std::move(socket));
}

void MeetingPlace::wait(Clock::duration patience) const {
  std::vector<pollfd> files;
  if (listener_) files.push_back({listener_.get(), POLLIN, 0});
  for (const Guest& guest : guests_) files.push_back({guest.socket.get(), POLLIN, 0});
  const auto longest = std::chrono::ceil<milliseconds>(patience);
  const bool tries_again = side_ == Side::connects && guests_.empty();
  poll(files.data(), files.size(),
       static_cast<int>((tries_again ? std::min(longest, between_tries) : longest).count()));
}

std::vector<MeetingPlace::Guest> MeetingPlace::look(Clock::duration patience, bool wanted) {
  if (side_ == Side::listens)
    accept_all();
  else if (wanted && guests_.empty())
    try_to_connect();
  if (patience.count() > 0) {
    wait(patience);
    if (side_ == Side::listens) accept_all();
  }
  std::vector<Guest> greeted;
  std::erase_if(guests_, [&](Guest& guest) {
    const Heard heard = listen_to(guest);
    if (heard == Heard::greeting) greeted.push_back(std::move(guest));
    met_strangers_ = met_strangers_ || heard == Heard::strange;
    return heard != Heard::nothing;
  });
  return greeted;
}

MeetingPlace::Heard MeetingPlace::listen_to(Guest& guest) {
  char text[greeting.size() + 1];
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof(int))];
  iovec part{text, sizeof text};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed;
  message.msg_controllen = sizeof passed;
  const ssize_t size = recvmsg(guest.socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::nothing;
  if (size == 0) return Heard::end;
  const cmsghdr* const control = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(control), sizeof file);
    guest.memory.reset(file);
  }
  const bool known = size > 0 && std::string_view(text, static_cast<std::size_t>(size)) == greeting;
  return known ? Heard::greeting : Heard::strange;
}

bool MeetingPlace::greet(const OwnFile& socket, int memory) {
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof memory)]{};
  iovec part{const_cast<char*>(greeting.data()), greeting.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (memory >= 0) {
    message.msg_control = passed;
    message.msg_controllen = sizeof passed;
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof memory);
    std::memcpy(CMSG_DATA(control), &memory, sizeof memory);
  }
  return sendmsg(socket.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(greeting.size());
}

bool MeetingPlace::is_there(const OwnFile& socket) {
  char said = 0;
  return recv(socket.get(), &said, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace concord

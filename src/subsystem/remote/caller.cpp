#include "subsystem/remote/caller.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr double longest_limit = 1e9;  // s
constexpr milliseconds until_noted{2000}, longest_end{1000}, between_sends{1};

std::int64_t new_session() {
  std::random_device source;
  return static_cast<std::int64_t>((std::uint64_t{source()} << 20) ^ source());
}

}  // namespace

RemoteCaller::RemoteCaller(std::shared_ptr<const RemoteDescription> remote,
                           std::shared_ptr<RemoteLink> link)
    : remote_(std::move(remote)), link_(std::move(link)), session_(new_session()) {}

/// Who is there may go on to the next run.
RemoteCaller::~RemoteCaller() {
  try {
    if (deaf_ || !stands()) return;
    Json question = Json::object();
    write("end", question);
    if (link_->send(bytes_)) link_->wait(Clock::now() + longest_end);
  } catch (...) {  // it is gone
  }
}

RemoteCaller::Clock::time_point RemoteCaller::limit() const {
  const std::chrono::duration<double> seconds(std::min(remote_->limit, longest_limit));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
}

void RemoteCaller::tell(const std::string& note) {
  if (note == told_) return;
  told_ = note;
  std::fprintf(stderr, "concord: note: subsystem '%s': %s\n", remote_->subsystem.c_str(),
               note.c_str());
}

void RemoteCaller::fail(double t, const std::string& what) const {
  throw SimulationError(in_words(*remote_) + " " + what +
                        (std::isnan(t) ? "" : " at t = " + short_number(t) + " s"));
}

void RemoteCaller::fail_late(double t, const std::string& what) const {
  fail(t,
       what + " within " + short_number(remote_->limit) + " s (timeout:, -subsystem_" +
           remote_->subsystem + "_call_limit)" +
           (!link_->met_strangers()          ? ""
            : is_in_memory(link_->address()) ? "; somebody else was there, or another program"
                                             : "; somebody who does not speak ZeroMQ was there"));
}

bool RemoteCaller::stands() const {
  if (connection_ == 0) return false;
  link_->catch_up();
  return link_->is_connected() && link_->connections() == connection_;
}

void RemoteCaller::connect(double t) {
  connection_ = 0;
  const auto until = limit();
  link_->open();
  link_->catch_up();
  auto next = std::min(until, Clock::now() + until_noted);
  while (!link_->is_connected()) {
    const auto news = link_->wait(next);
    if (news == RemoteLink::News::message)
      fail(t, "does not speak the protocol of Concord: it spoke first");
    if (link_->is_connected()) return;
    if (Clock::now() >= until)
      fail_late(t, ever_begun_ ? "has gone, and none has come in its place" : "has not come");
    if (Clock::now() < next) continue;
    next = until;
    tell("waits for " + in_words(*remote_) + ", up to " + short_number(remote_->limit) + " s");
  }
}

void RemoteCaller::begun_in(int connection) {
  connection_ = connection;
  ever_begun_ = true;
}

bool RemoteCaller::deliver(Clock::time_point until) {
  while (!link_->send(bytes_)) {
    link_->catch_up();
    if (!link_->is_connected() || Clock::now() >= until) return false;
    std::this_thread::sleep_for(between_sends);
  }
  return true;
}

std::int64_t RemoteCaller::write(const char* what, Json& question) {
  const std::int64_t number = link_->next_number();
  question["ask"] = what;
  question["n"] = number;
  question["session"] = session_;
  bytes_.clear();
  Json::to_msgpack(question, bytes_);
  return number;
}

/// Whether it was answered; false: the connection was lost.
bool RemoteCaller::exchange(const char* what, Json& question, double t) {
  const auto until = limit();
  const std::int64_t number = write(what, question);
  deaf_ = true;  // until it has answered
  link_->catch_up();
  if (link_->is_crowded()) fail(t, "is not alone: a second one has connected");
  if (!deliver(until)) return false;
  for (;;) {
    switch (link_->wait(until)) {
      case RemoteLink::News::message:
        take_answer(what, t);
        if (answer_.n != number) continue;  // of a connection that is no more
        deaf_ = false;
        if (answer_.error) fail(t, "failed in '" + std::string(what) + "': " + *answer_.error);
        return true;
      case RemoteLink::News::lost:
        return false;
      case RemoteLink::News::none:
        fail_late(t, "has not answered '" + std::string(what) + "'");
      default:
        continue;
    }
  }
}

void RemoteCaller::take_answer(const char* what, double t) {
  answer_ = {};
  auto reason = read_answer(link_->message(), answer_);
  if (!reason && !answer_.n) reason = "does not say to which question (n)";
  if (reason)
    fail(t, "does not speak the protocol of Concord: an answer of " +
                std::to_string(link_->message().size()) + " bytes to '" + what + "' " + *reason);
}

}  // namespace concord

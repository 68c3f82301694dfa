#include "subsystem/remote/peer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr double longest_limit = 1e9;  // s
constexpr int most_losses = 20;        ///< in one question
constexpr milliseconds until_noted{2000}, longest_end{1000}, between_sends{1};

std::int64_t new_session() {
  std::random_device source;
  return static_cast<std::int64_t>((std::uint64_t{source()} << 20) ^ source());
}

bool offered(const RemoteAnswer& answer, std::string_view what) {
  return std::ranges::find(answer.offers, what) != answer.offers.end();
}

/// "inputs v, w and not u": what one list has and the other has not.
std::string difference(const char* what, std::vector<std::string> given,
                       std::vector<std::string> asked) {
  std::ranges::sort(given);
  std::ranges::sort(asked);
  if (given == asked) return "";
  const std::string its = given.empty() ? "none" : joined(given);
  return std::string("its ") + what + " are " + its + ", those of the model " +
         (asked.empty() ? "none" : joined(asked));
}

Json by_name(const std::vector<std::string>& names, const std::vector<double>& values) {
  Json result = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) result[names[i]] = values[i];
  return result;
}

}  // namespace

RemotePeer::RemotePeer(std::shared_ptr<const RemoteDescription> remote,
                       std::shared_ptr<RemoteLink> link)
    : remote_(std::move(remote)), link_(std::move(link)), session_(new_session()) {}

/// Who is there may go on to the next run.
RemotePeer::~RemotePeer() {
  try {
    if (deaf_ || !stands()) return;
    Json question{{"ask", "end"}, {"n", link_->next_number()}, {"session", session_}};
    bytes_.clear();
    Json::to_msgpack(question, bytes_);
    if (link_->send(bytes_)) link_->wait(Clock::now() + longest_end);
  } catch (...) {  // it is gone
  }
}

RemotePeer::Clock::time_point RemotePeer::limit() const {
  const std::chrono::duration<double> seconds(std::min(remote_->limit, longest_limit));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
}

void RemotePeer::tell(const std::string& note) {
  if (note == told_) return;
  told_ = note;
  std::fprintf(stderr, "concord: note: subsystem '%s': %s\n", remote_->subsystem.c_str(),
               note.c_str());
}

void RemotePeer::fail(double t, const std::string& what) const {
  throw SimulationError(in_words(*remote_) + " " + what + " at t = " + short_number(t) + " s");
}

void RemotePeer::fail_late(double t, const std::string& what) const {
  fail(t,
       what + " within " + short_number(remote_->limit) + " s (timeout:, -subsystem_" +
           remote_->subsystem + "_call_limit)" +
           (!link_->met_strangers()          ? ""
            : is_in_memory(link_->address()) ? "; somebody else was there, or another program"
                                             : "; somebody who does not speak ZeroMQ was there"));
}

bool RemotePeer::stands() const {
  if (connection_ == 0) return false;
  link_->catch_up();
  return link_->is_connected() && link_->connections() == connection_;
}

const RemoteAnswer& RemotePeer::begin(const RemotePoint& at, double stop) {
  stop_ = stop;
  elsewhere_ = false;
  connection_ = 0;
  for (int losses = 0; losses < most_losses; ++losses)
    if (introduce(at, false)) return answer_;
  fail(at.t, "comes and goes");
}

void RemotePeer::resume(const RemotePoint& at) {
  if (!introduce(at, true)) return;
  ++successors_;
  elsewhere_ = true;
  tell(gives_state_ ? "another process has taken its place at " + link_->address() +
                          " and goes on from the last communication point"
                    : "another process has taken its place at " + link_->address() +
                          " at t = " + short_number(at.t) +
                          " s and began anew; what the one before remembered "
                          "is lost (it offers no state)");
}

const RemoteAnswer& RemotePeer::ask(const char* what, Json question, const RemotePoint& now) {
  for (int losses = 0; losses < most_losses; ++losses) {
    if (!stands()) resume(now);
    if (connection_ == 0) continue;
    if (elsewhere_ && gives_state_) question["state"] = Json::binary(now.state);
    if (!exchange(what, question, now.t)) continue;
    if (answer_.unknown) {
      if (!gives_state_) fail(now.t, "works for another run, which has begun since then,");
      connection_ = 0;
      continue;
    }
    elsewhere_ = false;
    check_sizes(what, now.t);
    return answer_;
  }
  fail(now.t, "was lost " + std::to_string(most_losses) + " times in '" + what + "'");
}

void RemotePeer::wait_for_connection(double t) {
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
      fail_late(t, begun_ ? "has gone, and none has come in its place" : "has not come");
    if (Clock::now() < next) continue;
    next = until;
    tell("waits for " + in_words(*remote_) + ", up to " + short_number(remote_->limit) + " s");
  }
}

/// Whether there was time to say who is who; false: the connection was lost on the way.
bool RemotePeer::introduce(const RemotePoint& at, bool resumes) {
  connection_ = 0;
  wait_for_connection(at.t);
  const int connection = link_->connections();
  Json hello{{"protocol", remote_protocol},
             {"concord", CONCORD_VERSION},
             {"subsystem", remote_->subsystem},
             {"inputs", names_of(remote_->inputs)},
             {"outputs", names_of(remote_->outputs)},
             {"parameters", by_name(remote_->parameters, at.parameters)}};
  if (!exchange("hello", hello, at.t)) return false;
  check_introduction(at.t);
  gives_state_ = offered(answer_, "state");
  Json start{{"t", at.t}, {"h", at.h}, {"u", at.u}, {"y", at.y}, {"resumes", resumes}};
  if (std::isfinite(stop_)) start["stop"] = stop_;
  if (!exchange("start", start, at.t) || answer_.unknown) return false;
  check_sizes("start", at.t);
  if (answer_.refused) fail(at.t, "refuses to start: " + *answer_.refused);
  connection_ = connection;
  begun_ = true;
  return true;
}

void RemotePeer::check_introduction(double t) const {
  if (!answer_.protocol)
    fail(t, "does not speak the protocol of Concord: 'hello' without protocol");
  if (*answer_.protocol != remote_protocol)
    fail(t, "speaks version " + std::to_string(*answer_.protocol) + " of the protocol, not " +
                std::to_string(remote_protocol));
  const auto refuse = [&](const std::string& why) {
    if (!why.empty())
      throw SimulationError(remote_->location + ": " + in_words(*remote_) +
                            " is another subsystem: " + why);
  };
  if (answer_.inputs) refuse(difference("inputs", *answer_.inputs, names_of(remote_->inputs)));
  if (answer_.outputs) refuse(difference("outputs", *answer_.outputs, names_of(remote_->outputs)));
  const RemoteOffers& offers = remote_->offers;
  const bool wanted[] = {offers.state, offers.polynomials, offers.slopes};
  for (std::size_t i = 0; i < std::size(wanted); ++i)
    if (wanted[i] && !offered(answer_, remote_offers[i]))
      refuse(std::string("it offers no ") + remote_offers[i] + ", which the model names (offers:)");
}

bool RemotePeer::deliver(Clock::time_point until) {
  while (!link_->send(bytes_)) {
    link_->catch_up();
    if (!link_->is_connected() || Clock::now() >= until) return false;
    std::this_thread::sleep_for(between_sends);
  }
  return true;
}

/// Whether it was answered; false: the connection was lost.
bool RemotePeer::exchange(const char* what, Json& question, double t) {
  const auto until = limit();
  const std::int64_t number = link_->next_number();
  question["ask"] = what;
  question["n"] = number;
  question["session"] = session_;
  bytes_.clear();
  Json::to_msgpack(question, bytes_);
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

void RemotePeer::take_answer(const char* what, double t) {
  answer_ = {};
  auto reason = read_answer(link_->message(), answer_);
  if (!reason && !answer_.n) reason = "does not say to which question (n)";
  if (reason)
    fail(t, "does not speak the protocol of Concord: an answer of " +
                std::to_string(link_->message().size()) + " bytes to '" + what + "' " + *reason);
}

void RemotePeer::check_sizes(const char* what, double t) const {
  if (answer_.refused) return;
  const std::size_t outputs = remote_->outputs.size();
  const auto check = [&](const auto& list, const char* name) {
    if (list && list->size() != outputs)
      fail(t, "gave " + std::to_string(list->size()) + " numbers under '" + name + "' to '" + what +
                  "', not one for each of " + std::to_string(outputs) + " outputs");
  };
  check(answer_.y, "y");
  check(answer_.dy, "dy");
  if (gives_state_ && !answer_.state && std::string_view(what) != "outputs")
    fail(t, "offers state and gave none with '" + std::string(what) + "'");
}

}  // namespace concord

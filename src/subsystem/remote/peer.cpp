#include "subsystem/remote/peer.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

constexpr int most_losses = 20;  ///< in one question

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
    : RemoteCaller(std::move(remote), std::move(link)) {}

const RemoteAnswer& RemotePeer::begin(const RemotePoint& at, double stop) {
  stop_ = stop;
  elsewhere_ = false;
  leave();
  for (int losses = 0; losses < most_losses; ++losses)
    if (introduce(at, false)) return answer();
  fail(at.t, "comes and goes");
}

void RemotePeer::resume(const RemotePoint& at) {
  if (!introduce(at, true)) return;
  ++successors_;
  elsewhere_ = true;
  tell(gives_state_ ? "another process has taken its place at " + link().address() +
                          " and goes on from the last communication point"
                    : "another process has taken its place at " + link().address() +
                          " at t = " + short_number(at.t) +
                          " s and began anew; what the one before remembered "
                          "is lost (it offers no state)");
}

const RemoteAnswer& RemotePeer::ask(const char* what, Json question, const RemotePoint& now) {
  for (int losses = 0; losses < most_losses; ++losses) {
    if (!stands()) resume(now);
    if (!has_begun()) continue;
    if (elsewhere_ && gives_state_) question["state"] = Json::binary(now.state);
    if (!exchange(what, question, now.t)) continue;
    if (answer().unknown) {
      if (!gives_state_) fail(now.t, "works for another run, which has begun since then,");
      leave();
      continue;
    }
    elsewhere_ = false;
    check_sizes(what, now.t);
    return answer();
  }
  fail(now.t, "was lost " + std::to_string(most_losses) + " times in '" + what + "'");
}

/// Whether there was time to say who is who; false: the connection was lost on the way.
bool RemotePeer::introduce(const RemotePoint& at, bool resumes) {
  connect(at.t);
  const int connection = link().connections();
  Json hello{{"protocol", remote_protocol},
             {"concord", CONCORD_VERSION},
             {"subsystem", remote().subsystem},
             {"inputs", names_of(remote().inputs)},
             {"outputs", names_of(remote().outputs)},
             {"parameters", by_name(remote().parameters, at.parameters)}};
  if (!exchange("hello", hello, at.t)) return false;
  check_introduction(at.t);
  gives_state_ = offered(answer(), "state");
  Json start{{"t", at.t}, {"h", at.h}, {"u", at.u}, {"y", at.y}, {"resumes", resumes}};
  if (std::isfinite(stop_)) start["stop"] = stop_;
  if (!exchange("start", start, at.t) || answer().unknown) return false;
  check_sizes("start", at.t);
  if (answer().refused) fail(at.t, "refuses to start: " + *answer().refused);
  begun_in(connection);
  return true;
}

void RemotePeer::check_introduction(double t) const {
  if (!answer().protocol)
    fail(t, "does not speak the protocol of Concord: 'hello' without protocol");
  if (*answer().protocol != remote_protocol)
    fail(t, "speaks version " + std::to_string(*answer().protocol) + " of the protocol, not " +
                std::to_string(remote_protocol));
  const auto refuse = [&](const std::string& why) {
    if (!why.empty())
      throw SimulationError(remote().location + ": " + in_words(remote()) +
                            " is another subsystem: " + why);
  };
  if (answer().inputs) refuse(difference("inputs", *answer().inputs, names_of(remote().inputs)));
  if (answer().outputs)
    refuse(difference("outputs", *answer().outputs, names_of(remote().outputs)));
  const RemoteOffers& offers = remote().offers;
  const bool wanted[] = {offers.state, offers.polynomials, offers.slopes};
  for (std::size_t i = 0; i < std::size(wanted); ++i)
    if (wanted[i] && !offered(answer(), remote_offers[i]))
      refuse(std::string("it offers no ") + remote_offers[i] + ", which the model names (offers:)");
}

void RemotePeer::check_sizes(const char* what, double t) const {
  if (answer().refused) return;
  const std::size_t outputs = remote().outputs.size();
  const auto check = [&](const auto& list, const char* name) {
    if (list && list->size() != outputs)
      fail(t, "gave " + std::to_string(list->size()) + " numbers under '" + name + "' to '" + what +
                  "', not one for each of " + std::to_string(outputs) + " outputs");
  };
  check(answer().y, "y");
  check(answer().dy, "dy");
  if (gives_state_ && !answer().state && std::string_view(what) != "outputs")
    fail(t, "offers state and gave none with '" + std::string(what) + "'");
}

}  // namespace concord

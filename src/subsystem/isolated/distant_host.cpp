#include "subsystem/isolated/distant_host.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr int most_tries = 20;
/// Who calls says at which time.
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::string layout_of_calls() {
  std::string result = CONCORD_VERSION;
  for (const std::size_t size :
       {sizeof(void*), sizeof(CallStatus), sizeof(MacroStep), sizeof(Polynomial), sizeof(Sample),
        sizeof(SmoothInterval), static_cast<std::size_t>(RemoteFunction::model_output_curvatures)})
    result += " " + std::to_string(size);
  return result;
}

DistantHost::DistantHost(std::shared_ptr<const RemoteDescription> remote,
                         std::shared_ptr<RemoteLink> link)
    : RemoteCaller(std::move(remote), std::move(link)) {
  for (int tries = 0; tries < most_tries; ++tries)
    if (begin()) return;
  fail(no_time, "comes and goes");
}

/// Whether there was time to say what both are; false: the connection was lost on the way.
bool DistantHost::begin() {
  connect(no_time);
  const int connection = link().connections();
  nlohmann::json question = nlohmann::json::object();
  if (!exchange("whole", question, no_time)) return false;
  const std::string own = layout_of_calls(), its = answer().calls.value_or("");
  if (its != own)
    throw InputError(remote().location + ": " + in_words(remote()) +
                     (its.empty() ? " does not serve subsystems whole" : " is another Concord") +
                     " (" + (its.empty() ? "" : in_quotes(its) + ", not ") + in_quotes(own) +
                     "); leave whole: out, and give inputs, outputs and offers in its place");
  begun_in(connection);
  return true;
}

std::optional<MessageReader> DistantHost::call(std::span<const std::byte> request,
                                               CallStatus& status) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(request.data());
  nlohmann::json question{
      {"call", nlohmann::json::binary(std::vector<std::uint8_t>(begin, begin + request.size()))}};
  if (!stands() || !exchange("call", question, no_time) || answer().unknown) {
    leave();
    last_words_ = in_words(remote()) + " has gone";
    return std::nullopt;
  }
  if (!answer().result) fail(no_time, "gave no 'result' to a call");
  MessageReader given(std::as_bytes(std::span(*answer().result)));
  given.take(status);
  if (status.ending != Ending::foreign_end) return given;
  given.take(last_words_);
  names_place_ = true;
  leave();
  return std::nullopt;
}

bool DistantHost::release() {
  if (!stands()) return true;
  MessageWriter request;
  request.put(RemoteFunction::release);
  CallStatus status;
  call(request.bytes(), status);
  return true;
}

}  // namespace concord

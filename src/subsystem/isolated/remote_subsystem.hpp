#pragma once

#include <utility>

#include "subsystem/isolated/reviving_process.hpp"

namespace concord {

/// Calls of a subsystem in another process, and what the last answer said of it.
class RemoteSubsystem {
 public:
  RemoteSubsystem(Recipe recipe, const IsolationOptions& options, std::shared_ptr<KeptProcess> kept,
                  SubsystemDescription& description)
      : process_(std::move(recipe), options, std::move(kept), description) {}

  const CallStatus& status() const { return status_; }
  RevivingProcess& process() { return process_; }

  /// The answer to a call, valid until the next one: that of `done`, or the failure's words. Throws
  /// what the call throws.
  template <class... Arguments>
  MessageReader call(RemoteFunction function, const Arguments&... arguments) {
    request_.clear();
    request_.put(function, arguments...);
    MessageReader answer = process_.call(function, request_.bytes(), status_);
    rethrow(status_.ending, answer);
    return answer;
  }

 private:
  RevivingProcess process_;
  CallStatus status_;
  MessageWriter request_;
};

}  // namespace concord

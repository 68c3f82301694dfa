#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subsystem/remote/link.hpp"

namespace concord {

/// The other end of a RemoteLink: questions of runs, and answers to them, one after the other.
class ServingLink {
 public:
  /// Throws InputError where the address cannot be used.
  ServingLink(const std::string& address, RemoteSide side);

  /// The next question, valid until the one that follows, which must be answered; nothing where
  /// none has come for a while.
  std::optional<std::span<const std::uint8_t>> next();
  void answer(std::span<const std::uint8_t> bytes);

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<SocketWatch> watch_;
  std::vector<std::uint8_t> message_;
};

}  // namespace concord

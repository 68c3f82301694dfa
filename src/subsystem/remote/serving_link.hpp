#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "subsystem/remote/link.hpp"

namespace concord {

/// The other end of a RemoteLink: questions of runs, and answers to them, one after the other.
class ServingLink {
 public:
  ServingLink() = default;
  virtual ~ServingLink() = default;
  ServingLink(const ServingLink&) = delete;
  ServingLink& operator=(const ServingLink&) = delete;

  /// The next question, valid until the one that follows, which must be answered; nothing where
  /// none has come for a while.
  virtual std::optional<std::span<const std::uint8_t>> next() = 0;
  /// Who has asked may be gone by now.
  virtual void answer(std::span<const std::uint8_t> bytes) = 0;
};

/// Throws InputError where the address cannot be used.
std::unique_ptr<ServingLink> make_serving_link(const std::string& address, RemoteSide side);

}  // namespace concord

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// What a process outside has answered (doc/remote_subsystems.md); what it did not say is empty.
struct RemoteAnswer {
  std::optional<std::int64_t> n, protocol;
  std::vector<std::string> offers;
  std::optional<std::vector<std::string>> inputs, outputs;
  std::optional<std::vector<double>> y, dy;
  std::optional<std::vector<std::uint8_t>> state, result;
  std::optional<std::string> error, refused, calls;
  bool unknown = false;  ///< it knows nothing of this session
};

/// From the bytes of a message; where they are none, why ("is no MessagePack").
std::optional<std::string> read_answer(std::span<const std::uint8_t> bytes, RemoteAnswer& answer);

}  // namespace concord

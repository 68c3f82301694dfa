#pragma once

#include <cstdint>
#include <string>

#include "concord/archive.hpp"

namespace concord {

/// A frame of classical CAN (ISO 11898-1): identifiers of 11 bits, or of 29 bits where it is
/// extended.
struct CanFrame {
  std::uint32_t id = 0;
  bool extended = false;
  bool remote = false;  ///< asks for data and has none
  std::string data{};   ///< up to 8 bytes

  void io(Archive& archive) { CONCORD_MEMBERS(archive, id, extended, remote, data); }
};

/// Bits in which nobody may send behind a frame.
constexpr int can_interframe_bits = 3;
/// Bits up to the end of those by which it is decided who sends.
constexpr int can_arbitration_bits(bool extended) { return extended ? 33 : 13; }

/// What decides who sends: of frames that begin at once the one with the smallest number wins
/// (0, dominant, comes through against 1).
std::uint64_t can_priority(const CanFrame& frame);

/// From the start of the frame to its end, with the check sum and stuff bits that its content has,
/// without the bits between frames.
int can_frame_bits(const CanFrame& frame);

}  // namespace concord

#include "subsystem/messages/can_frame.hpp"

#include <vector>

namespace concord {

namespace {

constexpr int base_bits = 11, more_bits = 18;
constexpr std::uint32_t more_mask = (1U << more_bits) - 1U;

/// Bits in the order in which they are sent.
class BitsSent {
 public:
  void add(std::uint32_t value, int count) {
    while (count-- > 0)
      bits_.push_back(static_cast<char>(value >> static_cast<unsigned>(count) & 1U));
  }

  /// The check sum of 15 bits of what there is (x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1).
  std::uint32_t check_sum() const {
    constexpr std::uint32_t polynomial = 0x4599, most = 0x7fff;
    std::uint32_t sum = 0;
    for (const char bit : bits_) {
      const bool turns = (sum >> 14U & 1U) != static_cast<std::uint32_t>(bit);
      sum = (sum << 1U & most) ^ (turns ? polynomial : 0U);
    }
    return sum;
  }

  /// Behind five alike one of the other kind is put in, which counts for the next five.
  int with_stuff_bits() const {
    constexpr int most_alike = 5;
    int count = 0, alike = 0;
    char last = 2;
    for (const char bit : bits_) {
      alike = bit == last ? alike + 1 : 1;
      last = bit;
      ++count;
      if (alike < most_alike) continue;
      ++count;
      last = last == 0 ? 1 : 0;
      alike = 1;
    }
    return count;
  }

 private:
  std::vector<char> bits_;
};

}  // namespace

std::uint64_t can_priority(const CanFrame& frame) {
  const std::uint64_t remote = frame.remote ? 1U : 0U;
  if (!frame.extended) return static_cast<std::uint64_t>(frame.id) << 21U | remote << 20U;
  return static_cast<std::uint64_t>(frame.id >> more_bits) << 21U | 3U << 19U |
         static_cast<std::uint64_t>(frame.id & more_mask) << 1U | remote;
}

int can_frame_bits(const CanFrame& frame) {
  constexpr int bits_per_byte = 8, end = 1 + 2 + 7;  ///< delimiter, acknowledgement, end of frame
  const std::uint32_t remote = frame.remote ? 1 : 0;
  BitsSent bits;
  bits.add(0, 1);
  if (frame.extended) {
    bits.add(frame.id >> more_bits, base_bits);
    bits.add(3, 2);
    bits.add(frame.id & more_mask, more_bits);
    bits.add(remote << 2U, 3);
  } else {
    bits.add(frame.id, base_bits);
    bits.add(remote << 2U, 3);
  }
  bits.add(static_cast<std::uint32_t>(frame.data.size()), 4);
  if (!frame.remote)
    for (const char byte : frame.data) bits.add(static_cast<unsigned char>(byte), bits_per_byte);
  bits.add(bits.check_sum(), 15);
  return bits.with_stuff_bits() + end;
}

}  // namespace concord

#include "files/sealed_bytes.hpp"

#include <zlib.h>

#include <cstdint>
#include <cstring>

namespace concord {
namespace {

using Sum = std::uint64_t;

Sum sum_of(std::span<const std::byte> bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

}  // namespace

std::vector<std::byte> sealed(std::span<const std::byte> bytes) {
  const Sum sum = sum_of(bytes);
  std::vector<std::byte> result(sizeof sum + bytes.size());
  std::memcpy(result.data(), &sum, sizeof sum);
  std::memcpy(result.data() + sizeof sum, bytes.data(), bytes.size());
  return result;
}

std::optional<std::span<const std::byte>> unsealed(std::span<const std::byte> bytes) {
  Sum sum = 0;
  if (bytes.size() <= sizeof sum) return std::nullopt;
  std::memcpy(&sum, bytes.data(), sizeof sum);
  const auto content = bytes.subspan(sizeof sum);
  return sum == sum_of(content) ? std::optional(content) : std::nullopt;
}

}  // namespace concord

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace concord {

/// The bytes behind a sum of them, which shows whether they come back whole.
std::vector<std::byte> sealed(std::span<const std::byte> bytes);

/// Those that were sealed; nothing where they are not what `sealed` has given.
std::optional<std::span<const std::byte>> unsealed(std::span<const std::byte> bytes);

}  // namespace concord

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace concord {

/// Bytes as FMI writes them, two digits each, with or without "0x" before them; nothing for what is
/// no such text.
std::optional<std::string> bytes_of_hex(std::string_view text);

/// "0x00ff"
std::string hex_of_bytes(std::string_view bytes);

}  // namespace concord

#pragma once

#include <string>

namespace concord {

/// `text` in another encoding, as iconv(3) names them. Throws InputError that begins with `place`
/// for what is no text in `from`, or has no character in `to`.
std::string converted_text(const std::string& text, const char* from, const char* to,
                           const std::string& place);

}  // namespace concord

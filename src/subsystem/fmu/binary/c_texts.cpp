#include "subsystem/fmu/binary/c_texts.hpp"

#include <cctype>

namespace concord {

std::string file_uri(const std::filesystem::path& path) {
  std::string uri = "file://";
  for (const unsigned char c : path.string()) {
    const bool plain = std::isalnum(c) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", c);
    uri += plain ? std::string(1, static_cast<char>(c)) : code;
  }
  return uri;
}

}  // namespace concord

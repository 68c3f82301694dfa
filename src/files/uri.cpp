#include "files/uri.hpp"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace concord {

namespace {

bool stands_for_itself(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string uri_of(const std::string& path) {
  std::string result;
  for (const char c : path) {
    char code[4] = {c, '\0'};
    if (!stands_for_itself(c))
      std::snprintf(code, sizeof code, "%%%02X",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
    result += code;
  }
  return result;
}

std::string path_of(const std::string& uri) {
  std::string result;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    int code = 0;
    const char* digits = uri.data() + i + 1;
    const bool encoded = uri[i] == '%' && i + 2 < uri.size() &&
                         std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    result += encoded ? static_cast<char>(code) : uri[i];
    if (encoded) i += 2;
  }
  return result;
}

}  // namespace concord

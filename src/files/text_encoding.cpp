#include "files/text_encoding.hpp"

#include <iconv.h>

#include <array>
#include <cerrno>
#include <memory>

#include "concord/errors.hpp"

namespace concord {

std::string converted_text(const std::string& text, const char* from, const char* to,
                           const std::string& place) {
  iconv_t const conversion = iconv_open(to, from);
  if (conversion == reinterpret_cast<iconv_t>(-1))  // NOLINT: as iconv says it
    throw InputError(place + ": this system does not know the encoding " + from + " or " + to);
  const std::unique_ptr<void, int (*)(iconv_t)> owner(conversion, iconv_close);
  std::string in = text, out;
  char* rest = in.data();
  std::size_t left = in.size();
  while (left > 0) {
    std::array<char, 4096> block{};
    char* end = block.data();
    std::size_t room = block.size();
    const auto result = iconv(conversion, &rest, &left, &end, &room);
    out.append(block.data(), block.size() - room);
    if (result == static_cast<std::size_t>(-1) && errno != E2BIG)
      throw InputError(place + ": is no text in " + from + "; save it in UTF-8");
  }
  return out;
}

}  // namespace concord

#include "record/stream_address.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <regex>
#include <string_view>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

std::string new_token() {
  std::random_device source;
  char text[33];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", source(), source(), source(), source());
  return text;
}

bool StreamAddress::is_local() const {
  const std::string_view places[] = {"ipc://", "tcp://127.", "tcp://localhost:", "tcp://[::1]"};
  return std::ranges::any_of(places, [&](auto place) { return endpoint.starts_with(place); });
}

bool is_stream_address(const std::string& text) {
  return text.starts_with("tcp://") || text.starts_with("ipc://");
}

StreamAddress read_stream_address(const std::string& text, const std::string& what) {
  static const std::regex known(
      R"((tcp://(?:\[[^\]#]+\]|[^:/#\s]+):(?:[0-9]{1,5}|\*)|ipc://[^#\s]+)(#\S*)?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, known))
    throw InputError(what + ": " + in_quotes(text) +
                     " is no address; it looks like tcp://127.0.0.1:5600#token, and ends with the "
                     "token that the run has printed");
  StreamAddress address{parts[1].str(), "", parts[2].matched};
  if (address.has_token) address.token = parts[2].str().substr(1);
  return address;
}

}  // namespace concord

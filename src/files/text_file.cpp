#include "files/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "concord/errors.hpp"

namespace concord {

std::string read_text_file(const std::filesystem::path& path, const std::string& wanted) {
  const std::string source = path.string();
  const std::string remedy = "; give the path of " + wanted;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(source + ": there is no such file" + remedy);
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(source + ": this is a folder" + remedy);
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(source + ": this is not a regular file" + remedy);
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    throw InputError(source + ": cannot be read: " + std::strerror(errno));
  }
  return text;
}

std::size_t line_at(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace concord

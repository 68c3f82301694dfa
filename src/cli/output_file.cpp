#include "cli/output_file.hpp"

#include <exception>

#include "concord/errors.hpp"
#include "files/replaceable.hpp"
#include "files/whole_file.hpp"

namespace concord {

void write_output_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  try {
    replace_file(path, bytes);
  } catch (const std::exception& error) {
    throw InputError("'" + path.string() + "' cannot be written: " + error.what() +
                     "; choose another file with -o");
  }
}

void write_output_file(const std::filesystem::path& path, const std::string& text) {
  require_replaceable(path, FileContent::text);
  write_output_file(path, std::as_bytes(std::span(text)));
}

}  // namespace concord

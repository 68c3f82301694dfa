#include "files/replaceable.hpp"

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// As far as it tells what the file is: models say early what they are made of.
std::string beginning_of(const fs::path& path) {
  constexpr std::size_t enough = 1 << 20;
  std::string text(enough, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool begins_a_line(const std::string& text, std::string_view words) {
  return text.starts_with(words) || text.find("\n" + std::string(words)) != text.npos;
}

FileContent content_of(const fs::path& path, const std::string& text) {
  using namespace std::string_view_literals;
  if (is_hdf5_file(path)) return FileContent::hdf5;
  if (text.starts_with("PK\3\4"sv)) return FileContent::archive;
  if (text.starts_with("\x89PNG"sv) || text.starts_with("%PDF"sv) ||
      (text.starts_with("<?xml"sv) && text.find("<svg"sv) != text.npos))
    return FileContent::picture;
  const bool yaml = begins_a_line(text, "subsystems:") && begins_a_line(text, "experiment:");
  return yaml || text.find("SystemStructureDescription") != text.npos ? FileContent::model
                                                                      : FileContent::text;
}

const char* in_words(FileContent content) {
  switch (content) {
    case FileContent::hdf5:
      return "results, a checkpoint or other data in HDF5";
    case FileContent::archive:
      return "an archive (FMU, SSP)";
    case FileContent::picture:
      return "a picture";
    case FileContent::model:
      return "a model";
    default:
      return "a text";
  }
}

}  // namespace

void require_replaceable(const fs::path& path, FileContent written) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;
  const std::string text = beginning_of(path);
  const FileContent found = content_of(path, text);
  if (text.empty() || found == written) return;
  throw InputError("'" + path.string() + "' holds " + in_words(found) + ", not " +
                   in_words(written) +
                   "; it was left untouched: choose another file, or move it away");
}

}  // namespace concord

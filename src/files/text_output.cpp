#include "files/text_output.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "concord/errors.hpp"
#include "files/replaceable.hpp"

namespace concord {
namespace {

std::FILE* opened(const std::string& path) {
  require_replaceable(path, FileContent::text);
  return std::fopen(path.c_str(), "w");
}

}  // namespace

TextOutput::TextOutput(const std::optional<std::string>& path)
    : name_(path ? "'" + *path + "'" : "standard output"),
      file_(path ? opened(*path) : stdout),
      owned_(path.has_value()) {
  if (file_ == nullptr) fail();
}

TextOutput::~TextOutput() {
  if (owned_ && file_ != nullptr) std::fclose(file_);
}

void TextOutput::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void TextOutput::close() {
  std::FILE* file = std::exchange(file_, nullptr);
  if ((owned_ ? std::fclose(file) : std::fflush(file)) != 0) fail();
}

void TextOutput::fail() const {
  throw InputError("cannot write " + name_ + ": " + std::strerror(errno) +
                   "; choose a place that exists, has room and may be written to");
}

}  // namespace concord

#include "cli/written_files.hpp"

#include <filesystem>
#include <system_error>

#include "concord/errors.hpp"
#include "files/whole_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* writing_words[] = {"output", "plot"};

/// Also of what is not there yet.
bool are_one(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) || link_target(a) == link_target(b);
}

void require_apart_from(const std::string& read, const std::string& role,
                        const WrittenFile& written) {
  if (!read.empty() && are_one(read, written.path)) {
    throw InputError(written.word + " names the " + role + " " + in_quotes(read) +
                     ", which is read; it was left untouched: choose another file");
  }
}

}  // namespace

void require_apart(const std::vector<WrittenFile>& written, const Model& model) {
  for (auto one = written.begin(); one != written.end(); ++one) {
    if (one->path.empty()) continue;
    for (const ModelFile& file : model.files) require_apart_from(file.path, file.role, *one);
    for (auto other = written.begin(); other != one; ++other) {
      if (!other->path.empty() && are_one(other->path, one->path)) {
        throw InputError(other->word + " and " + one->word + " name the same file, " +
                         in_quotes(one->path) + "; choose another one for one of them");
      }
    }
  }
}

void require_words_apart(const GivenWords& own, const Model& model) {
  std::vector<WrittenFile> written;
  for (const char* word : writing_words)
    for (const std::string& path : own.all(word))
      written.push_back({"--" + std::string(word), path});
  for (const WrittenFile& one : written)
    for (const char* word : {"samples", "data", "parameters"})
      for (const std::string& read : own.all(word))
        require_apart_from(read, "file of " + std::string(word), one);
  require_apart(written, model);
}

}  // namespace concord

#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "network/model.hpp"

namespace concord {

/// A file that is to be written, and the word of the command line that names it: "-o".
struct WrittenFile {
  std::string word, path;  ///< without path: none
};

/// Throws InputError where one of them is a file that the model is read from, or another of them.
void require_apart(const std::vector<WrittenFile>& written, const Model& model);

/// Likewise of what the command's own words name, and of the files that they say to read.
void require_words_apart(const GivenWords& own, const Model& model);

}  // namespace concord

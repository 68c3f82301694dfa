#pragma once

#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "network/model.hpp"

namespace concord {

/// By what a file of the model is known again.
struct FilePrint {
  std::string role;    ///< in words: "table"
  std::string name;    ///< as it was read; within an archive behind that one's name
  std::string sha256;  ///< or, in words, why it is not known

  void io(Archive& archive) { CONCORD_MEMBERS(archive, role, name, sha256); }
};

/// Of all files that the model is read from, in the order of reading. Reads them. Throws InputError
/// for one that is no longer there.
std::vector<FilePrint> prints_of(const Model& model);

/// Which files are others than they were, for people; empty where all are the same. Names don't
/// count: a model may move, with its files.
std::string changed_files(const std::vector<FilePrint>& before, const std::vector<FilePrint>& now);

}  // namespace concord

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "network/model.hpp"

namespace concord {

/// A model's files as they lie below one folder of an archive, where they find each other.
struct ModelResources {
  std::string model;                                   ///< the model file's place there
  std::map<std::string, std::string> texts;            ///< files whose paths were changed
  std::map<std::string, std::filesystem::path> files;  ///< place and where it comes from

  /// Writes all of them below `folder`. Throws InputError.
  void write(const std::filesystem::path& folder) const;
};

/// Of a model that was read from files: places are as far apart as the files are, and absolute
/// paths in YAML become relative ones. Throws InputError.
ModelResources resources_of(const Model& model);

}  // namespace concord

#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "modelfile/yaml/node_reader.hpp"

namespace concord {

/// A model file and all that it includes, as one: what an included file says comes where it is
/// included, before what the file itself says. Every definition is there once.
class ModelText {
 public:
  /// Throws InputError, also for a file that is included twice or in a circle.
  explicit ModelText(const std::filesystem::path& path);

  const std::string& source() const { return files_.front().source; }
  /// In the order of reading.
  std::vector<std::string> sources() const;
  /// The model file itself.
  const NodeReader& root() const { return *root_; }

  /// The content of a file that stands for a system, read once. Throws InputError.
  NodeReader system_file(const NodeReader& name) const;

  /// The first of a key.
  std::optional<NodeReader> find(const char* key) const;
  /// The first of a key that some file must have; `remedy` is what to add.
  NodeReader required(const char* key, const std::string& remedy) const;
  /// The entries of a map, names of the user's choice, of all files.
  std::vector<Field> entries(const char* key, const std::string& role) const;
  /// The same, where the names are more than names.
  std::vector<Field> loose_entries(const char* key, const std::string& role) const;
  /// The items of a list of all files.
  std::vector<NodeReader> items(const char* key, const std::string& role) const;

 private:
  struct File {
    std::string source;
    YamlDocument document;
  };

  static NodeReader parse(const std::filesystem::path& path, const std::string& what,
                          const std::string& needs, std::deque<File>& files);
  NodeReader read(const std::filesystem::path& path, const std::string& what);
  void include(const NodeReader& item);
  void refuse_second(const char* key) const;
  std::vector<NodeReader> all(const char* key) const;

  std::deque<File> files_;
  mutable std::deque<File> systems_;
  std::optional<NodeReader> root_;
  std::vector<std::vector<Field>> parts_;     ///< of files, in their order
  std::map<std::string, std::string> known_;  ///< of files that have been read: where that is said
};

}  // namespace concord

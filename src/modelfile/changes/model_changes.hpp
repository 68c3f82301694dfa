#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// A value that is other than the model says, for one run: --set ball.e=0.9.
struct ModelChange {
  std::string owner;     ///< a subsystem, or `parameters` for those of the whole model
  std::string name;      ///< of a parameter, or of a variable with a start value
  std::string text;      ///< a number, an expression, an FMU's value
  std::string location;  ///< where it is said, for error messages
};

using ModelChanges = std::vector<ModelChange>;

/// The owner of the parameters of the whole model.
inline constexpr const char* whole_model = "parameters";

/// From words "ball.e=0.9". Throws InputError.
ModelChanges read_changes(std::span<const std::string> words);

/// From a CSV file with lines "ball.e,0.9" (or ; or a tabulator between), a header allowed. Throws
/// InputError.
ModelChanges read_changes_file(const std::filesystem::path& path);

/// What belongs to each owner: of each name the last change.
class ChangesByOwner {
 public:
  explicit ChangesByOwner(const ModelChanges& changes);

  const ModelChanges& of(const std::string& owner) const;

  /// Throws InputError for an owner that is none of these.
  void refuse_others(std::span<const std::string> owners) const;

 private:
  std::map<std::string, ModelChanges> changes_;
};

}  // namespace concord
